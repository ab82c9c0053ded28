"""Routes of the service itself: whether it works, what it does, and who asks."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from ragassay import __version__
from ragassay.service.api.problems import documented
from ragassay.service.api.route_parts import READS, Allowed, InStore
from ragassay.service.operation.requests_seen import METRICS_TYPE, metrics_text
from ragassay.service.store.tokens import TokenScope

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
