"""Answers of systems under test: a table of their own in the ledger's file.

An answer is known by the fingerprint of its system and by the request, as it was sent. Failures are
not kept: the next run asks again.
"""

from __future__ import annotations

import hashlib
import time

from ragassay.judges.ledger.ledger_file import statements
from ragassay.judges.ledger.store import Ledger

_COLUMNS = "key, system, fingerprint, query, repeat, record, created"
_KEEP = f"INSERT OR REPLACE INTO answers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"


class SystemAnswers:
    """The answers of one system in a ledger.

    Args:
        ledger: where they are kept.
        system: the system's name, for people.
        fingerprint: of the system.
    """

    def __init__(self, ledger: Ledger, system: str, fingerprint: str) -> None:
        self._ledger, self._system, self._fingerprint = ledger, system, fingerprint
        if not ledger.has_table("answers_by_key"):
            for statement in statements("answers"):
                ledger.change(statement)

    def find(self, request: bytes) -> str | None:
        """The record of the answer to a request; ``None`` where it was not answered before."""
        rows = self._ledger.select(
            "SELECT record FROM answers WHERE key = ?", (self._key(request),)
        )
        return str(rows[0][0]) if rows else None

    async def keep(self, request: bytes, query: str, repeat: int, record: str) -> None:
        """Keeps an answer, in place of an earlier one. Durable when this returns.

        Args:
            request: as it was sent.
            query: id of the query.
            repeat: which time it was asked.
            record: JSON of the answer.

        Raises:
            UsageError: the file cannot be written any more.
        """
        row = (self._system, self._fingerprint, query, repeat, record, time.time())
        await self._ledger.write([(_KEEP, (self._key(request), *row))])

    def _key(self, request: bytes) -> bytes:
        return hashlib.sha256(self._fingerprint.encode() + b"\n" + request).digest()
