"""A query that a system is asked: the request that is made of it, and the sample that comes of it.

What is recorded of each asking stands in ``metadata.asked`` of its sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from ragassay import formats
from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Passage, Sample, Turn
from ragassay.formats import native
from ragassay.judges.ledger.system_answers import KeptFailure
from ragassay.targets.asking.system import System
from ragassay.targets.reply_shapes import SystemReply, foreign
from ragassay.targets.target import Request
from ragassay.transport.sending import Tally

ASKED = "asked"
"""The key of the metadata."""

STOPPED = "stopped"
"""The type of failure of queries that were not asked."""

NO_ANSWER = "no_answer"
"""Metadata of a sample whose system said that it has no answer: as in Open RAG Eval's files."""

FAILED_BEFORE = "failed_before"
"""Key of what is recorded: how often a query failed in earlier runs, before it was asked again."""

NOT_ASKED = "not_asked"
"""Key of what is recorded: why a query that failed in an earlier run was not asked again."""

_NO_SYSTEM: Mapping[str, Any] = {
    "system": "", "repeat": 0, "answer": None, "passages": None, "passages_prescribed": False,
    "failure": None, "given": {}, "given_by": {}, "given_unscored": {}, "runs": (),
}  # fmt: skip
"""The fields that a system filled, as they are where none did."""


def questions_of(samples: Sequence[Sample]) -> list[Sample]:
    """The queries of samples: without what systems made of them, each once. A `UsageError` where
    there is none, one has no text, or two differ under one id."""
    queries: dict[str, Sample] = {}
    for sample in samples:
        if not sample.query_text.strip():
            raise UsageError(f"The record {sample.id!r} has no query, so there is nothing to ask.")
        metadata = {k: v for k, v in sample.metadata.items() if k not in (ASKED, NO_ANSWER)}
        bare = replace(sample, metadata=metadata, **_NO_SYSTEM)
        first = queries.setdefault(sample.id, bare)
        if (first.query, first.history) != (bare.query, bare.history):
            raise UsageError(
                f"Two records with the id {sample.id!r} ask different things: {first.query!r} and "
                f"{bare.query!r}. Give each query an id of its own."
            )
    if not queries:
        raise UsageError("There is no query to ask.")
    return list(queries.values())


def request_of(query: Sample, history: tuple[Turn, ...], repeat: int, *, gold: bool) -> Request:
    """What a system is sent: with the texts of the gold passages, where it is to be given them."""
    passages = (one.text for one in query.gold or () if one.grade > 0 and one.text)
    given = tuple(passages) if gold else None
    return Request(query.id, query.query_text, history, repeat, query.metadata, given)


def read(record: str) -> Sample:
    """What `AskedQuery.stored` made, from the JSON of a ledger."""
    (stored,) = formats.from_records([orjson.loads(record)])
    return stored


@dataclass
class AskedQuery:
    """The asking of a query, once, of one system. ``facts`` are recorded of it before anything is
    measured; the request is ``None`` while an earlier turn has no answer; ``before`` are its
    failures in earlier runs, where they count."""

    query: Sample
    repeat: int
    system: System
    facts: Mapping[str, Any]
    tally: Tally = field(default_factory=Tally)
    request: Request | None = None
    body: bytes = b""
    before: KeptFailure = KeptFailure(0, "")

    def stored(self, reply: SystemReply, at: float) -> Sample:
        """The answer alone, whose metadata is what was measured of it; ``at`` is the time."""
        measured: dict[str, Any] = {
            "latency": round(reply.latency, 6),
            "first_token": None if reply.first_token is None else round(reply.first_token, 6),
            # 0 is a measurement (an empty answer) where the reply gives both; else it means none.
            "input_tokens": reply.input_tokens if reply.counted else reply.input_tokens or None,
            "output_tokens": reply.output_tokens if reply.counted else reply.output_tokens or None,
            "cost": reply.cost,
            "attempts": self.tally.attempts,
            "waited": round(self.tally.waited, 3) or None,
            FAILED_BEFORE: self.before.times or None,
            "version": reply.version or None,
            "unread": dict(reply.unread) or None,
            "not_read": list(reply.not_read) or None,
            "not_found": dict(reply.not_found) or None,
            "at": round(at, 3),
        }
        metadata = {name: value for name, value in measured.items() if value is not None}
        return Sample(id="reply", answer=reply.answer, passages=reply.passages, metadata=metadata)

    def record(self, stored: Sample) -> str:
        """What `stored` made as JSON, for a ledger."""
        try:
            return native.dump(stored).decode()
        except InputError as error:
            raise foreign(
                f"{self.system.target.url}: the reply cannot be kept, because a text in it is no "
                "Unicode (half a pair of surrogates). Correct how the system cuts or decodes its "
                "texts."
            ) from error

    def answered(self, stored: Sample) -> Sample:
        """The query with the answer that a ledger keeps."""
        assert self.request is not None
        metadata = {**self.query.metadata, ASKED: {**stored.metadata, **self.facts}}
        if stored.answer is not None and not stored.answer.text.strip():
            metadata[NO_ANSWER] = True
        given = self.request.passages
        at, asked_at = self.query.timestamp, stored.metadata["at"]
        return replace(
            self._of_system(metadata),
            history=self.request.history,
            answer=stored.answer,
            passages=stored.passages if given is None else tuple(map(Passage, given)),
            passages_prescribed=given is not None,
            timestamp=asked_at if at is None else at,
        )

    def failed(self, reason: str, detail: str, measured: Mapping[str, Any]) -> Sample:
        """The query with the failure of the system: its type, a sentence, and what was measured."""
        asked = {"failure": reason, **measured, **self.facts}
        if self.before.times and NOT_ASKED not in measured:
            asked[FAILED_BEFORE] = self.before.times
        sample = self._of_system({**self.query.metadata, ASKED: asked})
        return replace(sample, failure=f"{reason}: {detail}")

    def _of_system(self, metadata: Mapping[str, Any]) -> Sample:
        name = self.system.target.name
        return replace(self.query, system=name, repeat=self.repeat, metadata=metadata)
