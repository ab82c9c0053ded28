"""The queries that systems are asked, and the requests that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample, Turn
from ragassay.targets.asking.measurements import ASKED, NO_ANSWER
from ragassay.targets.target import Request
from ragassay.targets.target_factory import AskOptions

_NO_SYSTEM: Mapping[str, Any] = {
    "system": "", "repeat": 0, "answer": None, "passages": None, "passages_prescribed": False,
    "failure": None, "given": {}, "given_by": {}, "given_unscored": {}, "runs": (),
}  # fmt: skip
"""The fields that a system filled, as they are where none did."""
_MEASURED = frozenset({ASKED, NO_ANSWER})
"""Keys of metadata that belong to an answer."""


def questions_of(samples: Sequence[Sample]) -> list[Sample]:
    """The queries of samples: without what systems made of them, each once.

    Args:
        samples: of any data; those of several systems or repeats share their queries.

    Raises:
        UsageError: there is none, one has no text, or two differ under one id.
    """
    queries: dict[str, Sample] = {}
    for sample in samples:
        if not sample.query_text.strip():
            raise UsageError(f"The record {sample.id!r} has no query, so there is nothing to ask.")
        bare = sample
        if any(getattr(sample, name) != value for name, value in _NO_SYSTEM.items()) or (
            not _MEASURED.isdisjoint(sample.metadata)
        ):
            metadata = {k: v for k, v in sample.metadata.items() if k not in _MEASURED}
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


def request_of(
    query: Sample, history: tuple[Turn, ...], repeat: int, options: AskOptions
) -> Request:
    """What a system is sent.

    Args:
        query: that is asked.
        history: that the system is given.
        repeat: which time it is asked.
        options: how.
    """
    passages = gold_texts(query) if options.gold_passages else None
    return Request(query.id, query.query_text, history, repeat, query.metadata, passages)


def gold_texts(query: Sample) -> tuple[str, ...]:
    """The texts of a query's gold passages.

    Args:
        query: of the data.
    """
    return tuple(one.text for one in query.gold or () if one.grade > 0 and one.text)
