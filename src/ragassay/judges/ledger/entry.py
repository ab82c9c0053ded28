"""Verdicts in a ledger: what came of each request to a judge."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import fields
from heapq import merge
from operator import attrgetter
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from ragassay.base.problem_words import validation_problem
from ragassay.base.score import Reason
from ragassay.judges.ledger.paid import END_OF_TIME, NO_VERDICT, VERDICT, Paid, damaged, source_of
from ragassay.judges.ledger.store import Ledger


@dataclass(frozen=True, slots=True, config=ConfigDict(strict=True))
class Entry:
    """One answered request, or one whose failure would come out the same again.

    Attributes:
        key: hexadecimal digits: the hash of the whole request.
        kind, version: of the question.
        question: the question's own key, by which run folders and files of verdicts name it.
        repeat: which of several askings of the same question.
        endpoint: where it was sent; never holds a secret.
        model: the model that was asked for.
        answered_by: what the endpoint says answered.
        prompt_hash: of template and answer schema.
        reason: of a failure (a `Reason`'s value), or ``None``.
        detail: of a failure, one sentence.
        request: JSON of messages, parameters and schema.
        reply: the raw text that came back.
        answer: JSON of the typed answer, or ``None`` for a failure.
        input_tokens, output_tokens: as counted by the endpoint, repair turn included.
        cost: US dollars, or ``None`` where no price was known.
        latency: seconds from sending to the last byte.
        attempts: requests that it took.
        dropped: parameters that the endpoint rejected.
        created: seconds since 1970.
    """

    key: str
    kind: str
    version: int
    question: str
    repeat: int
    endpoint: str
    model: str
    answered_by: str
    prompt_hash: str
    reason: str | None
    detail: str
    request: bytes
    reply: str
    answer: bytes | None
    input_tokens: int
    output_tokens: int
    cost: float | None
    latency: float
    attempts: int
    dropped: tuple[str, ...]
    created: Annotated[float, Field(ge=0, lt=END_OF_TIME)]


PROVENANCE = (
    *("prompt_hash", "reply", "input_tokens", "output_tokens", "cost", "latency"),
    *("attempts", "dropped"),
)
"""The fields that an entry shares with the provenance of its verdict."""

_FACTS = [
    field.name
    for field in fields(Entry)
    if field.name not in ("key", "endpoint", "model", "request", "created")
]

_COMPRESSION = 3
"""A prompt shrinks to two fifths at a fifth of the time that the highest level takes."""


def find(ledger: Ledger, key: str) -> Entry | None:
    """The entry of a request, or ``None`` when it was never kept.

    Args:
        ledger: where it would be.
        key: of the request.
    """
    return next((entry_of(ledger, paid) for paid in ledger.find([key])), None)


async def commit(ledger: Ledger, entry: Entry, *, stale: bool = False) -> None:
    """Keeps an entry, in place of an older one of the same key. It is durable when this returns.

    A failure never replaces an answer, which was paid for. A commit that is cancelled while it
    waits is written all the same.

    Args:
        ledger: where it is kept.
        entry: what came of a request.
        stale: an answer that is there is not valid any more: whatever comes now replaces it.

    Raises:
        UsageError: the file cannot be written any more (the disk is full, for example).
    """
    over_answers = stale or entry.reason is None
    await ledger.keep(lambda: [_paid(entry)], over_answers=over_answers)


def _paid(entry: Entry) -> Paid:
    """The row of an entry. Made on the ledger's thread, because compression takes time."""
    facts = {name: getattr(entry, name) for name in _FACTS}
    facts |= {
        "answer": None if entry.answer is None else entry.answer.decode(),
        # Replies may hold halves of surrogate pairs, which have no UTF-8.
        "reply": entry.reply.encode("utf-8", "replace").decode(),
        "detail": entry.detail.encode("utf-8", "replace").decode(),
    }
    kind = VERDICT if entry.reason is None else NO_VERDICT
    source = source_of(entry.endpoint, entry.model)
    request = zlib.compress(entry.request, _COMPRESSION)
    return Paid(kind, entry.key, source, facts, request, entry.created)


def models(ledger: Ledger) -> set[str]:
    """The models, at any endpoint, whose answers or failures are kept."""
    sources = (*ledger.sources(VERDICT), *ledger.sources(NO_VERDICT))
    return {source.partition("\n")[2] for source in sources}


def latest(ledger: Ledger, model: str) -> Iterator[Entry]:
    """Yields the answers of a model, at any endpoint, the youngest first.

    Args:
        ledger: any.
        model: that was asked for.
    """
    sources = [one for one in ledger.sources(VERDICT) if one.partition("\n")[2] == model]
    rows = (ledger.rows(VERDICT, source=one, youngest=True) for one in sources)
    for paid in merge(*rows, key=attrgetter("created"), reverse=True):
        yield entry_of(ledger, paid)


def entry_of(ledger: Ledger, paid: Paid) -> Entry:
    """The entry of a row.

    Args:
        ledger: that holds it.
        paid: a verdict or a failure.

    Raises:
        InputError: the row is damaged.
    """
    try:
        facts: dict[str, Any] = {**paid.facts}
        endpoint, model = paid.source.split("\n")
        Reason(facts["reason"] or Reason.REFUSED)
        answer = facts["answer"]
        facts |= {
            "answer": None if answer is None else answer.encode(),
            "dropped": tuple(facts["dropped"]),
        }
        request = zlib.decompress(paid.payload)
        return Entry(
            key=paid.key,
            endpoint=endpoint,
            model=model,
            request=request,
            created=paid.created,
            **facts,
        )
    except (zlib.error, ValueError, TypeError, AttributeError, KeyError) as error:
        problem = str(error)
        if isinstance(error, ValidationError):
            problem = f"its {validation_problem(error)}"
        raise damaged(ledger.path, f"a kept answer cannot be read: {problem}") from error
