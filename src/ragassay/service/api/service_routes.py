"""Routes of the service itself: whether it works, what it does, who asks; tools for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ragassay import __version__
from ragassay.service.api.access import access_of
from ragassay.service.api.problems import documented
from ragassay.service.api.route_parts import READS, Allowed, InStore
from ragassay.service.operation.service_log import METRICS_TYPE, metrics_text
from ragassay.service.store.tokens import TokenScope

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

MCP = "/mcp"
router = APIRouter()
at_the_root = APIRouter(include_in_schema=False)
"""Where programs that watch services look."""


class WhoAmI(BaseModel):
    """Who asks. Without a name it is this machine, which may do everything without a token."""

    name: str | None = None
    scope: TokenScope = "write"
    project_id: str | None = None
    expires: float | None = None


class Health(BaseModel):
    """The service works, and its store answers."""

    status: Literal["ok"] = "ok"
    version: str = __version__


@router.get("/whoami", responses=READS, tags=["access"])
def get_whoami(access: Allowed) -> WhoAmI:
    """Whose token the request carries, what it allows, in which project, and until when."""
    token = access.token
    return WhoAmI.model_validate(token, from_attributes=True) if token else WhoAmI()


@at_the_root.get("/health")
@router.get("/health", responses=documented(403, 503), tags=["health"])
def get_health(store: InStore) -> Health:
    """Whether the service works and its store answers. Needs no token."""
    store.check()
    return Health()


@at_the_root.get("/metrics")
def get_metrics(request: Request, store: InStore, access: Allowed) -> Response:
    """The state of the service, as Prometheus reads it. Needs a token for all projects."""
    access.check("read", None)
    text = metrics_text(request.app.state.requests, store)
    return Response(text, media_type=METRICS_TYPE)


def add_tools(app: FastAPI, server: MCPServer[Any]) -> None:
    """Adds the address of an MCP server (streamable HTTP), for whoever may write in all projects:
    the tools write files and ask a judge. The application's life runs its session manager."""
    from mcp.server.transport_security import TransportSecuritySettings

    # The service checks hosts, origins and sizes itself.
    settings = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    inner = server.streamable_http_app(streamable_http_path=MCP, transport_security=settings)
    [route] = [one for one in inner.routes if isinstance(one, Route)]
    app.router.routes.append(Route(MCP, endpoint=_ForWriters(route.app)))


class _ForWriters:
    """Lets those through who may write in all projects."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        access = await run_in_threadpool(access_of, Request(scope))
        access.check("write", None)
        await self._app(scope, receive, send)
