"""Routes for those who keep the service running: whether it works, and what it does."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from ragassay import __version__
from ragassay.service.api.problems import documented
from ragassay.service.api.route_parts import Allowed, InStore
from ragassay.service.operation.prometheus import METRICS_TYPE, metrics_text
from ragassay.service.store.jobs import count_store

router = APIRouter(tags=["health"])
at_the_root = APIRouter(include_in_schema=False)
"""Where programs that watch services look."""


class Health(BaseModel):
    """The service works, and its store answers."""

    status: Literal["ok"] = "ok"
    version: str = __version__


@at_the_root.get("/health")
@router.get("/health", responses=documented(403, 503))
def get_health(store: InStore) -> Health:
    """Whether the service works and its store answers. Needs no token."""
    store.check()
    return Health()


@at_the_root.get("/metrics")
def get_metrics(request: Request, store: InStore, access: Allowed) -> Response:
    """The state of the service, as Prometheus reads it. Needs a token for all projects."""
    access.check("read", None)
    text = metrics_text(request.app.state.requests, count_store(store))
    return Response(text, media_type=METRICS_TYPE)
