"""The application: its parts, its guard, and the worker that lives with it; and the routes of the
service itself: whether it works, what it does, who asks, tools for agents."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route, compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from ragassay import __version__
from ragassay.base.errors import UsageError
from ragassay.reports.html.pages import ASSETS
from ragassay.service.api import record_routes, report_routes
from ragassay.service.api.access import Guard, access_of, is_loopback
from ragassay.service.api.problems import Problem, answer_with_problems, documented, problem_of
from ragassay.service.api.route_parts import BINARY, READS, Allowed, InStore
from ragassay.service.mlcube_wire import wire_routes
from ragassay.service.operation.keeping import delete_old
from ragassay.service.operation.service_log import (
    METRICS_TYPE,
    Requests,
    RequestsSeen,
    log_event,
    metrics_text,
)
from ragassay.service.store.database import Store
from ragassay.service.store.tokens import TokenScope, is_closed
from ragassay.service.views.view_folders import Views
from ragassay.service.web import data_pages, report_pages
from ragassay.service.web.page_parts import HERE, shown_problem
from ragassay.service.worker.worker import Worker, WorkerOptions

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from ragassay.mcp.mcp_server import McpOptions

MCP = "/mcp"
own_routes = APIRouter()
at_the_root = APIRouter(include_in_schema=False)
"""Where programs that watch services look."""

PREFIX = "/api/v1"
MOST_BYTES = 256 * 1024**2
SWEEP_S = 60.0
"""Seconds between two looks for views of reports that were deleted."""
HOUR_S = 3_600.0
"""Seconds between two looks for what is older than it is to be kept."""


@dataclass(frozen=True)
class ServiceOptions:
    """How a service is offered: ``hosts`` by which it is called, ``most_bytes`` of a request, no
    web pages without a folder for ``views``, ``open`` without a token on this machine,
    ``behind_proxy`` by whose headers the scheme and the client are known, ``keep_days`` before
    deletion."""

    address: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()
    most_bytes: int = MOST_BYTES
    worker: WorkerOptions | None = None
    views: Path | None = None
    mcp: McpOptions | None = None
    open: bool = False
    behind_proxy: bool = False
    keep_days: int | None = None


def create_app(store: Store, chosen: ServiceOptions = ServiceOptions()) -> FastAPI:
    """The application over a store. Only with tokens it serves others than this machine."""
    is_local = is_loopback(chosen.address) and not chosen.hosts and not chosen.behind_proxy
    if not is_local and chosen.open:
        raise UsageError("--open serves this machine only, without --name and --behind-proxy.")
    if not is_local and not is_closed(store):
        raise UsageError(
            f"Without tokens only this machine is served, but others can reach {chosen.address}. "
            "Make a token first ('ragassay token create NAME'), or listen at 127.0.0.1 "
            "without --name and --behind-proxy."
        )

    tools: MCPServer[Any] | None = None
    if chosen.mcp is not None:
        from ragassay.mcp.mcp_server import create_server

        tools = create_server(chosen.mcp)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if chosen.worker is not None:
                worker = Worker(store, chosen.worker)
                thread = threading.Thread(target=worker.run, name="ragassay-worker", daemon=True)
                thread.start()
                stack.callback(thread.join)
                stack.callback(worker.stop)
            chores = [_every(HOUR_S, partial(delete_old, store, chosen.keep_days))]
            if chosen.views is not None:
                chores.append(_every(SWEEP_S, app.state.views.sweep))
            for chore in chores:
                stack.callback(asyncio.create_task(chore).cancel)
            if tools is not None:
                await stack.enter_async_context(tools.session_manager.run())
            yield

    app = FastAPI(
        title="ragassay",
        version=__version__,
        summary="Evaluates RAG systems: log what yours does, and read reports.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    app.state.store, app.state.open = store, chosen.open
    app.state.requests = Requests()
    app.state.views = None if chosen.views is None else Views(store, chosen.views)
    answer_with_problems(app, partial(_answer, views=chosen.views is not None))
    api = (*record_routes.routers, *report_routes.routers, own_routes)
    routers = [*((PREFIX, router) for router in api), ("", wire_routes.router)]
    for prefix, router in routers:
        app.include_router(router, prefix=prefix)
    app.include_router(at_the_root)
    if tools is not None:
        add_tools(app, tools)
    if chosen.views is not None:
        for pages in (data_pages, report_pages):
            app.include_router(pages.router)
        for name, folder in (("report", ASSETS), ("service", HERE / "assets")):
            app.mount(f"/assets/{name}", StaticFiles(directory=folder))
    _document_problems(app)
    files = [
        compile_path(prefix + route.path)[0]
        for prefix, router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and route.openapi_extra is BINARY
    ]
    limits: dict[str, Any] = {"most_bytes": chosen.most_bytes, "files": files}
    app.add_middleware(Guard, asks=access_of, hosts=chosen.hosts, **limits)
    app.add_middleware(RequestsSeen, counts=app.state.requests)
    return app


def _answer(request: Request, error: Exception, *, views: bool) -> Response:
    """The answer for an error: in the wire's form, as a page where there are any, or a problem."""
    if request.url.path.startswith(f"{wire_routes.router.prefix}/"):
        return wire_routes.wire_problem(request, error)
    return shown_problem(request, error) if views else problem_of(request, error)


async def _every(seconds: float, act: Callable[[], None]) -> None:
    """Does something now and then; what cannot be done now is done another time."""
    while True:
        try:
            await run_in_threadpool(act)
        except Exception as error:  # the store is away, say
            log_event("chore", level=logging.WARNING, error=repr(error))
        await asyncio.sleep(seconds)


def _document_problems(app: FastAPI) -> None:
    """Puts the form of a problem into the schemas, and takes out the one that is never used."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        description = describe()
        components = description.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema()
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        description["security"] = [{"token": []}, {}]
        return description

    app.openapi = openapi  # type: ignore[method-assign]


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


@own_routes.get("/whoami", responses=READS, tags=["access"])
def get_whoami(access: Allowed) -> WhoAmI:
    """Whose token the request carries, what it allows, in which project, and until when."""
    token = access.token
    return WhoAmI.model_validate(token, from_attributes=True) if token else WhoAmI()


@at_the_root.get("/health")
@own_routes.get("/health", responses=documented(403, 503), tags=["health"])
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
    [route] = [item for item in inner.routes if isinstance(item, Route)]
    app.router.routes.append(Route(MCP, endpoint=_ForWriters(route.app)))


class _ForWriters:
    """Lets those through who may write in all projects."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        access = await run_in_threadpool(access_of, Request(scope))
        access.check("write", None)
        await self._app(scope, receive, send)
