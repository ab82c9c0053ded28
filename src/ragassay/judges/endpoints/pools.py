"""Connections in several small pools: imported only when a client is made.

The client's pool looks at every connection for every request, twice. With 64 of them that is a
third of the time that a call takes; several small pools, used in turn, have little to look at.
"""

from __future__ import annotations

import urllib.request

import httpx2

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


def transport() -> httpx2.AsyncBaseTransport | None:
    """The pools; ``None`` where a proxy is configured, which only the client's own pool knows."""
    return None if urllib.request.getproxies() else Pools()
