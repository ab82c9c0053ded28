"""Answers of systems under test: a table of their own in the ledger's file.

An answer is known by the fingerprint of its system and by the request, as it was sent. Failures are
not kept: the next run asks again.
"""

from __future__ import annotations

import asyncio
import hashlib
import time

from ragassay.judges.ledger.ledger_file import statements
from ragassay.judges.ledger.store import Ledger

ANSWERS_INDEX = "answers_by_key"
"""There where a ledger has the table of these answers."""

_COLUMNS = "key, system, fingerprint, query, repeat, record, created"
_KEEP = f"INSERT OR REPLACE INTO answers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"

_GATHER_S = 0.02
"""Nobody waits for a single answer, and each commit costs as much time as several answers."""


class SystemAnswers:
    """The answers of one system in a ledger: those that are there when this is made, and those that
    are kept here.

    Args:
        ledger: where they are kept.
        system: the system's name, for people.
        fingerprint: of the system.
    """

    def __init__(self, ledger: Ledger, system: str, fingerprint: str) -> None:
        self._ledger, self._system, self._fingerprint = ledger, system, fingerprint
        if not ledger.has_table(ANSWERS_INDEX):
            for statement in statements("answers"):
                ledger.change(statement)
        # A look into the file while another thread writes costs more than to ask a system.
        self._known = {row[0] for row in ledger.select("SELECT key FROM answers")}

    def find(self, request: bytes) -> str | None:
        """The record of the answer to a request; ``None`` where it was not answered before."""
        key = self._key(request)
        if key not in self._known:
            return None
        rows = self._ledger.select("SELECT record FROM answers WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def keep(self, request: bytes, query: str, repeat: int, record: str) -> asyncio.Future[None]:
        """Keeps an answer, in place of an earlier one.

        Args:
            request: as it was sent.
            query: id of the query.
            repeat: which time it was asked.
            record: JSON of the answer.

        Returns:
            Is done when the answer is durable; see `Ledger.write`.
        """
        key = self._key(request)
        self._known.add(key)
        row = (self._system, self._fingerprint, query, repeat, record, time.time())
        return self._ledger.write([(_KEEP, (key, *row))], _GATHER_S)

    def _key(self, request: bytes) -> bytes:
        return hashlib.sha256(self._fingerprint.encode() + b"\n" + request).digest()
