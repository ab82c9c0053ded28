"""The route that says whether the service works: for those who keep it running."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from ragassay import __version__
from ragassay.service.api.problems import documented
from ragassay.service.api.route_parts import InStore

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The service works, and its store answers."""

    status: Literal["ok"] = "ok"
    version: str = __version__


@router.get("/health", responses=documented(403, 503))
def get_health(store: InStore) -> Health:
    """Whether the service works and its store answers. Needs no token."""
    store.check()
    return Health()
