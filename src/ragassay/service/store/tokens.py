"""Tokens: who may read and write. Only their hashes are kept."""

from __future__ import annotations

import hashlib
import secrets
import time
from contextlib import suppress
from typing import Literal

from pydantic import BaseModel
from sqlalchemy import insert, select, update

from ragassay.service.store.database import Store, new_id
from ragassay.service.store.projects import checked_name, get_project
from ragassay.service.store.schema import closed, tokens
from ragassay.service.store.store_errors import StoreUnavailable

TokenScope = Literal["read", "write"]

PREFIX = "ragassay_"
USED_S = 60.0
"""Seconds within which a token's last use is not written again."""


class Token(BaseModel):
    """What is known of a token; not the token itself."""

    id: str
    name: str
    scope: TokenScope
    project_id: str | None = None
    created: float
    expires: float | None = None
    used: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has expired."""
        return self.expires is not None and self.expires <= time.time()

    def may(self, scope: TokenScope, project_id: str | None) -> bool:
        """Whether it allows to read or write in a project; ``None`` is the list of projects."""
        return scope in ("read", self.scope) and self.project_id in (None, project_id)


def create_token(
    store: Store,
    name: str,
    scope: TokenScope,
    project_id: str | None = None,
    expires: float | None = None,
) -> tuple[Token, str]:
    """Makes a token, which is shown once; what is kept of it, and it. ``write`` includes reading.
    Without a project it is for all, and without a time (seconds since 1970) for ever."""
    if project_id is not None:
        get_project(store, project_id)
    value, now = PREFIX + secrets.token_urlsafe(32), time.time()
    facts = {"name": checked_name(name), "scope": scope, "project_id": project_id}
    token = Token(**facts, id=new_id(), created=now, expires=expires)
    close = [] if is_closed(store) else [insert(closed).values(since=now)]
    store.write(insert(tokens).values(**token.model_dump(), hash=_hash(value)), *close)
    return token, value


def list_tokens(store: Store) -> list[Token]:
    """All tokens, oldest first."""
    return [Token(**row._mapping) for row in store.rows(select(tokens).order_by("created"))]


def is_closed(store: Store) -> bool:
    """Whether every request needs a token: from the first one on, also where none is left."""
    return bool(store.rows(select(closed.c.since).limit(1)))


def find_token(store: Store, value: str) -> Token | None:
    """The token that a client sent, which may be over; ``None`` where there is no such token."""
    chosen = select(tokens).where(tokens.c.hash == _hash(value))
    token = next((Token(**row._mapping) for row in store.rows(chosen)), None)
    if token is None or token.is_over:
        return token
    now = time.time()
    if token.used is None or now - token.used > USED_S:
        with suppress(StoreUnavailable):
            store.write(update(tokens).where(tokens.c.id == token.id).values(used=now))
    return token


def _hash(value: str) -> str:
    # Tokens are long and random: a plain hash cannot be searched for them.
    return hashlib.sha256(value.encode()).hexdigest()
