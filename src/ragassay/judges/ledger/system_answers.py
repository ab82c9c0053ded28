"""Answers of systems under test, in the ledger, by the system's fingerprint and the request as it
was sent. A failure is kept until the request is answered: the next run asks again, and knows how
often it failed before."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ragassay.judges.ledger.ledger_store import MEMORY, Ledger
from ragassay.judges.ledger.paid_answers import ANSWER, TABLE, Paid

_GATHER_S = 0.02
"""Nobody waits for a single answer, and each commit costs as much time as several answers."""

_OWN = "kind = ? AND source = ? AND reason IS"


@dataclass(frozen=True, slots=True)
class KeptFailure:
    """A request that was asked and not answered: how often so far, and JSON of the last failure."""

    times: int
    record: str


class SystemAnswers:
    """The answers and failures of one system in a ledger: those that are there when this is made
    (``has_answered``), and those that are kept here."""

    def __init__(self, ledger: Ledger, system: str, fingerprint: str) -> None:
        self._ledger, self._system, self._fingerprint = ledger, system, fingerprint
        # A look into the file while another thread writes costs more than to ask a system.
        answered = ledger.select(
            f"SELECT key FROM {TABLE} WHERE {_OWN} NULL", (ANSWER, fingerprint)
        )
        self._answered = {key.hex() for (key,) in answered}
        self.has_answered = bool(answered)
        self._failures: dict[str, KeptFailure] = {}
        self._times: dict[tuple[str, int], int] = {}
        for row in ledger.rows(f"{_OWN} NOT NULL", ANSWER, fingerprint):
            times = row.facts["times"]
            self._failures[row.key] = KeptFailure(times, row.payload.decode())
            self._times[row.subject, row.facts["repeat"]] = times

    def find(self, request: bytes) -> str | None:
        """The record of the answer to a request; ``None`` where it was not answered before."""
        key = self._key(request)
        return self._read(key) if key in self._answered else None

    async def claim(self, request: bytes, given_up: Callable[[], bool]) -> str | None:
        """Waits until no other process of this ledger asks for a request, which is then to be
        released; returns the record of an answer that was kept meanwhile. Nothing is claimed where
        ``given_up()``."""
        key = self._key(request)
        if self._ledger.path == MEMORY or not await self._ledger.claim(key, given_up):
            return None
        return self._read(key)

    def release(self, request: bytes) -> None:
        """Lets other processes ask for a request."""
        self._ledger.release(self._key(request))

    def _read(self, key: str) -> str | None:
        row = self._ledger.get(key)
        return None if row is None or row.reason is not None else row.payload.decode()

    def keep(self, request: bytes, query: str, repeat: int, record: str) -> asyncio.Future[None]:
        """Keeps an answer (JSON) to a query (its id), in place of an earlier one and of a failure;
        see `Ledger.keep`."""
        key = self._key(request)
        self._answered.add(key)
        self._failures.pop(key, None)
        return self._keep(key, query, {"repeat": repeat}, record, None)

    def failure(self, request: bytes) -> KeptFailure | None:
        """The failure of a request that has no answer; ``None`` where none is known."""
        return self._failures.get(self._key(request))

    def times_failed(self, query: str, repeat: int) -> int:
        """How often a query (by its id) had failed, and was not answered since, when this was
        made."""
        return self._times.get((query, repeat), 0)

    def keep_failure(
        self, request: bytes, query: str, repeat: int, failure: KeptFailure
    ) -> asyncio.Future[None]:
        """Keeps a failure, in place of an earlier one. An answer that is there stays."""
        key = self._key(request)
        self._failures[key] = failure
        facts = {"repeat": repeat, "times": failure.times}
        return self._keep(key, query, facts, failure.record, "failed")

    def _keep(
        self, key: str, query: str, facts: dict[str, Any], record: str, reason: str | None
    ) -> asyncio.Future[None]:
        who = (self._fingerprint, self._system, query)
        made = Paid(key, ANSWER, *who, facts, record.encode(), reason)
        return self._ledger.keep(lambda: [made], gather=_GATHER_S)

    def _key(self, request: bytes) -> str:
        return hashlib.sha256(self._fingerprint.encode() + b"\n" + request).hexdigest()
