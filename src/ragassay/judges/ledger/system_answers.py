"""Answers of systems under test, in the ledger.

An answer is known by the fingerprint of its system and by the request, as it was sent. A failure is
kept until the request is answered: the next run asks again, and knows how often it failed before.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ragassay.judges.ledger.ledger_file import MEMORY
from ragassay.judges.ledger.paid import ANSWER, NO_ANSWER, Paid
from ragassay.judges.ledger.store import Ledger

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
        self._answered = ledger.keys(ANSWER, fingerprint)
        self.has_answered = bool(self._answered)
        self._failures: dict[str, KeptFailure] = {}
        self._times: dict[tuple[str, int], int] = {}
        for one in ledger.rows(NO_ANSWER, source=fingerprint):
            query, repeat, times = (one.facts[name] for name in ("query", "repeat", "times"))
            self._failures[one.key] = KeptFailure(times, one.payload.decode())
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
        if self._ledger.path == MEMORY or not await self._ledger.claim(key, given_up):
            return None
        return self._read(key)

    def release(self, request: bytes) -> None:
        """Lets other processes ask for a request."""
        self._ledger.release(self._key(request))

    def _read(self, key: str) -> str | None:
        found = self._ledger.find([key])
        return next((str(one.payload, "utf-8") for one in found if one.kind == ANSWER), None)

    def keep(self, request: bytes, query: str, repeat: int, record: str) -> asyncio.Future[None]:
        """Keeps an answer, in place of an earlier one and of a failure.

        Args:
            request: as it was sent.
            query: id of the query.
            repeat: which time it was asked.
            record: JSON of the answer.

        Returns:
            A future that is done when the answer is durable; see `Ledger.keep`.
        """
        key = self._key(request)
        self._answered.add(key)
        self._failures.pop(key, None)
        return self._keep(ANSWER, key, record, query=query, repeat=repeat)

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
        facts = {"query": query, "repeat": repeat, "times": failure.times}
        return self._keep(NO_ANSWER, key, failure.record, **facts)

    def _keep(self, kind: str, key: str, record: str, **facts: Any) -> asyncio.Future[None]:
        facts["system"] = self._system
        made = Paid(kind, key, self._fingerprint, facts, record.encode())
        return self._ledger.keep(lambda: [made], over_answers=kind == ANSWER, gather=_GATHER_S)

    def _key(self, request: bytes) -> str:
        return hashlib.sha256(self._fingerprint.encode() + b"\n" + request).hexdigest()
