"""Connections to a system under test, and the events of its replies as they come. The client is
aiohttp: with 64 requests in flight it takes a quarter of httpx2's time for each
(``benchmarks/ask.py``)."""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragassay.base.score import Reason
from ragassay.targets.target import RefusedAddressError, refuse_endless
from ragassay.transport.endpoints.endpoint import CONNECT_S
from ragassay.transport.endpoints.endpoint_errors import redirected

if TYPE_CHECKING:
    import aiohttp


def open_session(
    url: str, shown: str, headers: Mapping[str, str], method: str
) -> aiohttp.ClientSession:
    """A session that talks to one origin only; the caller has the deadlines and the limits. A
    redirect elsewhere, or without the body, is an `EndpointError`; a URL that is none of HTTP a
    `ValueError`."""
    import aiohttp
    from yarl import URL

    place = urlsplit(url)
    if place.scheme not in ("http", "https"):
        raise ValueError("it begins with neither http:// nor https://")
    home = URL(url).origin()

    async def stay(
        request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if request.url.origin() != home:
            raise redirected(shown, request.url.origin(), "target")
        if request.method != method:
            detail = f"{shown} redirects to {request.url.path}, without the query"
            raise RefusedAddressError(Reason.REFUSED, f"{detail}. Write that into 'url'.")
        return await send(request)

    ssl_context = _certificates() if place.scheme == "https" else True
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=ssl_context),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        middlewares=(stay,),
        proxy=_proxy(place.scheme, place.netloc),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
    )


def _certificates() -> ssl.SSLContext:
    if find_spec("truststore") is None:
        return ssl.create_default_context()
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _proxy(scheme: str, host: str) -> str | None:
    if urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(scheme) or proxies.get("all")


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a stream: its data, empty where it has none, its name where server-sent events
    name it, and whether its end came (the blank line, the end of the line)."""

    text: str
    name: str = ""
    is_complete: bool = True


async def events_of(
    response: aiohttp.ClientResponse, shown: str, *, server_sent: bool
) -> AsyncIterator[Event]:
    """The events of a stream as they come: server-sent ones, or each line one."""
    data: list[str] = []
    name = ""
    async for line, is_complete in _lines_of(response, shown):
        if not server_sent:
            if line.strip():
                yield Event(line, is_complete=is_complete)
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif not line.strip():
            if data or name:
                yield Event("\n".join(data), name)
            data, name = [], ""
        elif line.lstrip().startswith(("<", "{")):
            yield Event(line)  # no stream, but a page of HTML or JSON
    if data:
        yield Event("\n".join(data), name, is_complete=False)


async def _lines_of(
    response: aiohttp.ClientResponse, shown: str
) -> AsyncIterator[tuple[str, bool]]:
    """The lines of a reply, of any length, without their ends; with each whether its end came."""
    line: list[bytes] = []
    async for piece in pieces_of(response, shown):
        rest_of_line, *next_lines = piece.split(b"\n")
        line.append(rest_of_line)
        for one in next_lines:
            yield b"".join(line).removesuffix(b"\r").decode("utf-8", "replace"), True
            line = [one]
    if rest := b"".join(line):
        yield rest.decode("utf-8", "replace"), False


async def pieces_of(response: aiohttp.ClientResponse, shown: str) -> AsyncIterator[bytes]:
    """The body of a reply as it comes; an `EndpointError` where it does not end."""
    size = 0
    async for piece in response.content.iter_any():
        size += len(piece)
        refuse_endless(size, shown)
        yield piece
