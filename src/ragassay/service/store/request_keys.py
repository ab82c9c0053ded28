"""Ids of what requests make that may be sent again: the same request makes the same id."""

from __future__ import annotations

import hashlib

from sqlalchemy import select

from ragassay.service.store.database import Store
from ragassay.service.store.schema import projects, reports, tasks, uploads
from ragassay.service.store.store_errors import Conflict


def keyed_id(store: Store, path: str, key: str, content: bytes) -> str:
    """The id of what a request makes.

    Args:
        store: where it is made.
        path: that the request goes to.
        key: that the client gives the request.
        content: what the request says, or a digest of it.

    Raises:
        Conflict: another request to this path had this key.
    """
    place = hashlib.blake2b(f"{path}\0{key}".encode(), digest_size=8).hexdigest()
    made = place + hashlib.blake2b(content, digest_size=4).hexdigest()
    for table in (projects, tasks, reports, uploads):
        same_place = table.c.id.between(place, f"{place}g")  # ids are hexadecimal digits
        if store.rows(select(table.c.id).where(same_place, table.c.id != made).limit(1)):
            raise Conflict(
                f"The Idempotency-Key {key!r} was sent with another request. Send a new key."
            )
    return made
