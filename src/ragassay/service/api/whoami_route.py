"""The route that says whose token a request carries, and what it allows."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from ragassay.service.api.route_parts import READS, Allowed
from ragassay.service.store.tokens import TokenScope

router = APIRouter(tags=["access"])


class WhoAmI(BaseModel):
    """Who asks. Without a name it is this machine, which may do everything without a token."""

    name: str | None = None
    scope: TokenScope = "write"
    project_id: str | None = None
    expires: float | None = None


@router.get("/whoami", responses=READS)
def get_whoami(access: Allowed) -> WhoAmI:
    """Whose token the request carries, what it allows, in which project, and until when."""
    token = access.token
    if token is None:
        return WhoAmI()
    return WhoAmI.model_validate(token, from_attributes=True)
