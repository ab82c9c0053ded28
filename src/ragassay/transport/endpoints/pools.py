"""The HTTP transport of all clients: connections in several small pools, without redirects.
Imported only when a client is made.

The client's pool looks at every connection for every request, twice. With 64 of them that is a
third of the time that a call takes; several small pools, used in turn, have little to look at.
"""

from __future__ import annotations

import urllib.request
from typing import Any

import httpx2

from ragassay.transport.endpoints.endpoint_errors import redirected

_POOLS = 16


class Pools(httpx2.AsyncBaseTransport):
    """Several pools of connections that take turns."""

    def __init__(self) -> None:
        verify = httpx2.create_ssl_context()
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        self._pools = [
            httpx2.AsyncHTTPTransport(verify=verify, limits=limits) for _ in range(_POOLS)
        ]
        self._turn = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request through the pool whose turn it is."""
        self._turn = (self._turn + 1) % _POOLS
        return await self._pools[self._turn].handle_async_request(request)

    async def aclose(self) -> None:
        """Ends all connections."""
        for pool in self._pools:
            await pool.aclose()


def options(url: str, role: str) -> dict[str, Any]:
    """What an HTTP client is made with.

    Args:
        url: the endpoint's; a redirect to another origin is an `EndpointError`.
        role: what the endpoint is for, as the user calls it.
    """
    home = _origin(httpx2.URL(url))

    async def stay(request: httpx2.Request) -> None:
        there = _origin(request.url)
        if there != home:
            raise redirected(url, httpx2.URL(scheme=there[0], host=there[1], port=there[2]), role)

    return {
        # Only the client's own pool knows a configured proxy.
        "transport": None if urllib.request.getproxies() else Pools(),
        "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        "follow_redirects": True,
        "event_hooks": {"request": [stay]},
    }


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
