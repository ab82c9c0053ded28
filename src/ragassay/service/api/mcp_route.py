"""Tools for agents at ``/mcp``: MCP's streamable HTTP, for whoever may write."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ragassay.service.api.access import access_of

PATH = "/mcp"


def add(app: FastAPI, server: MCPServer[Any]) -> None:
    """Adds the address of an MCP server to an application, whose life runs its session manager."""
    # The service checks hosts, origins and sizes itself.
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    [route] = [one for one in inner.routes if isinstance(one, Route)]
    app.router.routes.append(Route(PATH, endpoint=_ForWriters(route.app)))


class _ForWriters:
    """Lets those through who may write in all projects: the tools write files and ask a judge."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        access = await run_in_threadpool(access_of, Request(scope))
        access.check("write", None)
        await self._app(scope, receive, send)
