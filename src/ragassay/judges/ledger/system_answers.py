"""Answers of systems under test: a table of their own in the ledger's file.

An answer is known by the fingerprint of its system and by the request, as it was sent. A failure is
kept in a second table until the request is answered: the next run asks again, and knows how often
it failed before.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from ragassay.judges.ledger.ledger_file import MEMORY
from ragassay.judges.ledger.store import Ledger

_COLUMNS = "key, system, fingerprint, query, repeat, record, created"
_KEEP = f"INSERT OR REPLACE INTO answers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"

_FAILURE_COLUMNS = "key, system, fingerprint, query, repeat, times, record, created"
_KEEP_FAILURE = (
    f"INSERT OR REPLACE INTO failures ({_FAILURE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_FORGET_FAILURE = "DELETE FROM failures WHERE key = ?"

_GATHER_S = 0.02
"""Nobody waits for a single answer, and each commit costs as much time as several answers."""


@dataclass(frozen=True, slots=True)
class KeptFailure:
    """A request that was asked and not answered.

    Attributes:
        times: how often it failed so far.
        record: JSON of the last failure.
    """

    times: int
    record: str


class SystemAnswers:
    """The answers of one system in a ledger: those that are there when this is made, and those that
    are kept here; likewise its failures.

    Attributes:
        has_answered: whether there was an answer of this system when this was made.

    Args:
        ledger: where they are kept.
        system: the system's name, for people.
        fingerprint: of the system.
    """

    def __init__(self, ledger: Ledger, system: str, fingerprint: str) -> None:
        self._ledger, self._system, self._fingerprint = ledger, system, fingerprint
        # A look into the file while another thread writes costs more than to ask a system.
        self._answered = {row[0] for row in ledger.select("SELECT key FROM answers")}
        answered = "SELECT key FROM answers WHERE fingerprint = ? LIMIT 1"
        self.has_answered = bool(ledger.select(answered, (fingerprint,)))
        failed = "SELECT key, query, repeat, times, record FROM failures WHERE fingerprint = ?"
        self._failures: dict[bytes, KeptFailure] = {}
        self._times: dict[tuple[str, int], int] = {}
        for key, query, repeat, times, record in ledger.select(failed, (fingerprint,)):
            self._failures[key] = KeptFailure(times, record)
            self._times[query, repeat] = times

    def find(self, request: bytes) -> str | None:
        """The record of the answer to a request; ``None`` where it was not answered before."""
        key = self._key(request)
        return self._read(key) if key in self._answered else None

    async def claim(self, request: bytes, given_up: Callable[[], bool]) -> str | None:
        """Waits until no other process of this ledger asks for a request, which is then to be
        released.

        Args:
            request: as it is sent.
            given_up: whether to wait no longer; then nothing is claimed.

        Returns:
            The record of the answer that another process has kept meanwhile.
        """
        key = self._key(request)
        if self._ledger.path == MEMORY or not await self._ledger.claim(key.hex(), given_up):
            return None
        return self._read(key)

    def release(self, request: bytes) -> None:
        """Lets other processes ask for a request."""
        self._ledger.release(self._key(request).hex())

    def _read(self, key: bytes) -> str | None:
        rows = self._ledger.select("SELECT record FROM answers WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def keep(self, request: bytes, query: str, repeat: int, record: str) -> asyncio.Future[None]:
        """Keeps an answer, in place of an earlier one and of a failure.

        Args:
            request: as it was sent.
            query: id of the query.
            repeat: which time it was asked.
            record: JSON of the answer.

        Returns:
            A future that is done when the answer is durable; see `Ledger.write`.
        """
        key = self._key(request)
        self._answered.add(key)
        row = (self._system, self._fingerprint, query, repeat, record, time.time())
        statements: list[tuple[str, tuple[object, ...]]] = [(_KEEP, (key, *row))]
        if self._failures.pop(key, None) is not None:
            statements.append((_FORGET_FAILURE, (key,)))
        return self._ledger.write(statements, _GATHER_S)

    def failure(self, request: bytes) -> KeptFailure | None:
        """The failure of a request that has no answer; ``None`` where none is known."""
        return self._failures.get(self._key(request))

    def times_failed(self, query: str, repeat: int) -> int:
        """How often a query had failed, and was not answered since, when this was made.

        Args:
            query: its id.
            repeat: which time it was asked.
        """
        return self._times.get((query, repeat), 0)

    def keep_failure(
        self, request: bytes, query: str, repeat: int, failure: KeptFailure
    ) -> asyncio.Future[None]:
        """Keeps a failure, in place of an earlier one. An answer that is there stays.

        Args:
            request: as it was sent.
            query: id of the query.
            repeat: which time it was asked.
            failure: what came of it.

        Returns:
            As of `keep`.
        """
        key = self._key(request)
        self._failures[key] = failure
        row = (self._system, self._fingerprint, query, repeat, failure.times, failure.record)
        return self._ledger.write([(_KEEP_FAILURE, (key, *row, time.time()))], _GATHER_S)

    def _key(self, request: bytes) -> bytes:
        return hashlib.sha256(self._fingerprint.encode() + b"\n" + request).digest()
