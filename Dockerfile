# The service of ragassay (docs/service.md). Build it, make a token, start it:
#   docker build -t ragassay .
#   docker run --rm -v ragassay:/data ragassay token create me --store /data
#   docker run -d -p 8765:8765 -v ragassay:/data ragassay
FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/ragassay
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN /opt/ragassay/bin/pip install --no-cache-dir '.[service,postgres,llm]'

FROM python:3.11-slim
COPY --from=build /opt/ragassay /opt/ragassay
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin ragassay \
    && install --directory --owner=ragassay --mode=0700 /data
ENV PATH=/opt/ragassay/bin:$PATH \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/api/v1/health', timeout=4)"]
ENTRYPOINT ["ragassay"]
CMD ["serve", "/data", "--host", "0.0.0.0"]
