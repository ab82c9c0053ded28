"""What is recorded of each asking, in ``metadata.asked`` of its sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from ragassay import formats
from ragassay.base.sample import Sample, Turn
from ragassay.targets.target import SystemReply
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


def stored_answer(reply: SystemReply, tally: Tally, at: float, failed_before: int = 0) -> Sample:
    """An answer as a ledger keeps it: a sample of the answer alone, whose metadata is what was
    measured.

    Args:
        reply: of the system.
        tally: of its attempts.
        at: seconds since 1970.
        failed_before: how often the query failed in earlier runs.
    """
    measured: dict[str, Any] = {
        "latency": round(reply.latency, 6),
        "first_token": None if reply.first_token is None else round(reply.first_token, 6),
        # 0 is a measurement (an empty answer) where the reply gives both; else it means none.
        "input_tokens": reply.input_tokens if reply.counted else reply.input_tokens or None,
        "output_tokens": reply.output_tokens if reply.counted else reply.output_tokens or None,
        "cost": reply.cost,
        "attempts": tally.attempts,
        "waited": round(tally.waited, 3) or None,
        FAILED_BEFORE: failed_before or None,
        "version": reply.version or None,
        "unread": dict(reply.unread) or None,
        "not_read": list(reply.not_read) or None,
        "not_found": dict(reply.not_found) or None,
        "at": round(at, 3),
    }
    stored = {name: value for name, value in measured.items() if value is not None}
    return Sample(id="reply", answer=reply.answer, passages=reply.passages, metadata=stored)


def read(record: str) -> Sample:
    """What `stored_answer` made, from the JSON of a ledger."""
    (stored,) = formats.from_records([orjson.loads(record)])
    return stored


def answered(
    query: Sample,
    system: str,
    repeat: int,
    history: tuple[Turn, ...],
    stored: Sample,
    asked: Mapping[str, Any],
) -> Sample:
    """The query with what a system answered.

    Args:
        query: that was asked.
        system: who answered.
        repeat: which time it was asked.
        history: that the system was given.
        stored: as `stored_answer` made it.
        asked: what else is known of the asking.
    """
    metadata: dict[str, Any] = {**query.metadata, ASKED: {**stored.metadata, **asked}}
    if stored.answer is not None and not stored.answer.text.strip():
        metadata[NO_ANSWER] = True
    return replace(
        query, system=system, repeat=repeat, history=history, answer=stored.answer,
        passages=stored.passages, passages_prescribed=stored.passages_prescribed,
        metadata=metadata,
        timestamp=stored.metadata["at"] if query.timestamp is None else query.timestamp,
    )  # fmt: skip


def failed(
    query: Sample, system: str, repeat: int, reason: str, detail: str, asked: Mapping[str, Any]
) -> Sample:
    """The query with the failure of a system.

    Args:
        query: that was asked.
        system: who failed.
        repeat: which time it was asked.
        reason: type of the failure.
        detail: a sentence.
        asked: what is known of the asking.
    """
    metadata = {**query.metadata, ASKED: {"failure": reason, **asked}}
    return replace(
        query, system=system, repeat=repeat, failure=f"{reason}: {detail}", metadata=metadata
    )
