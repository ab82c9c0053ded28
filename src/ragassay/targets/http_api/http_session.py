"""Connections to a system under test.

The client is aiohttp: with 64 requests in flight it takes a quarter of httpx2's time for each, and
that time is what limits how fast a system can be asked (``benchmarks/ask.py``).
"""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.targets.target import RefusedAddressError, refuse_endless
from ragassay.transport.endpoints.endpoint import CONNECT_S
from ragassay.transport.endpoints.endpoint_errors import redirected

if TYPE_CHECKING:
    import aiohttp


def needs_session() -> None:
    """Says at once, and clearly, that the package is not installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("aiohttp") is None:
        raise UsageError(
            "A target over HTTP needs the aiohttp package: pip install 'ragassay[llm]'."
        )


def open_session(
    url: str, shown: str, headers: Mapping[str, str], method: str
) -> aiohttp.ClientSession:
    """A session that talks to one origin only. The caller has the deadlines and the limits.

    Args:
        url: of the system; a redirect to another origin is an `EndpointError`.
        shown: what the system is called in messages.
        headers: of every request.
        method: of every request; a redirect that takes another one, and so leaves the body of the
            request out, is an `EndpointError`.

    Raises:
        ValueError: the URL is none of HTTP.
    """
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
            raise RefusedAddressError(
                Reason.REFUSED,
                f"{shown} redirects to {request.url.path}, where a client sends {request.method} "
                f"without the query. If that is the right place, write it into 'url'.",
            )
        return await send(request)

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0, ssl=_certificates() if place.scheme == "https" else True
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        middlewares=(stay,),
        proxy=_proxy(place.scheme, place.netloc),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
    )


def _certificates() -> ssl.SSLContext:
    """Trusts whom the system trusts."""
    if find_spec("truststore") is None:
        return ssl.create_default_context()
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment names for a host."""
    if urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(scheme) or proxies.get("all")


async def content_of(response: aiohttp.ClientResponse, shown: str) -> bytes:
    """The body of a reply.

    Args:
        response: whose body is read.
        shown: what the system is called in messages.

    Raises:
        EndpointError: it does not end.
    """
    return b"".join([piece async for piece in _pieces_of(response, shown)])


async def lines_of(response: aiohttp.ClientResponse, shown: str) -> AsyncIterator[tuple[str, bool]]:
    """The lines of a reply as they come, of any length, without their ends; with each whether its
    end came. Arguments and errors: as of `content_of`."""
    line: list[bytes] = []
    async for piece in _pieces_of(response, shown):
        rest_of_line, *next_lines = piece.split(b"\n")
        line.append(rest_of_line)
        for one in next_lines:
            yield b"".join(line).removesuffix(b"\r").decode("utf-8", "replace"), True
            line = [one]
    if rest := b"".join(line):
        yield rest.decode("utf-8", "replace"), False


async def _pieces_of(response: aiohttp.ClientResponse, shown: str) -> AsyncIterator[bytes]:
    size = 0
    async for piece in response.content.iter_any():
        size += len(piece)
        refuse_endless(size, shown)
        yield piece
