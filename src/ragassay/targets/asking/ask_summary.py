"""What came of asking a system, in numbers, and what is to be said beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from ragassay.base.counts import grouped
from ragassay.base.errors import did_you_mean
from ragassay.base.note import Note
from ragassay.base.sample import Sample
from ragassay.targets.asking.asked_query import (
    ASKED,
    FAILED_BEFORE,
    NO_ANSWER,
    NOT_ASKED,
    STOPPED,
)
from ragassay.targets.asking.system import distinct_failures
from ragassay.targets.reply_shapes import NAMES, PASSAGE_SCORES
from ragassay.targets.target import Target

PERCENTILES = (50, 90, 95, 99)


@dataclass(frozen=True)
class AskSummary:
    """What came of asking one system.

    Attributes:
        system: its name.
        fingerprint: of the target.
        asked: samples: queries times repeats.
        answered: samples with an answer.
        no_answer: those of them in which the system says that it has none.
        from_ledger: those of them that were answered in an earlier run.
        ledger_dates: the first and the last day on which they were asked (UTC, ``2026-11-20``);
            empty where there are none.
        failed: samples without an answer, by type; ``stopped`` are those that were not asked.
        ways: for each type the first sentence of each different failure, with its query, and how
            many there are, the most frequent first.
        retries: further attempts.
        latency: seconds, by percentile (``p50``); empty where nothing was answered.
        first_token: likewise, of the answers that were streamed.
        input_tokens, output_tokens: of the answers that tell them; ``None`` where none does.
        cost: US dollars, likewise.
        versions: that the system named.
        notes: of measurements that are missing, because what the system gave for them is no number
            or its paths found nothing, of keys of its replies that were not read, and of queries
            that had failed before.
    """

    system: str
    fingerprint: str
    asked: int
    answered: int
    no_answer: int
    from_ledger: int
    failed: Mapping[str, int]
    ways: Mapping[str, Sequence[tuple[str, int]]]
    retries: int
    latency: Mapping[str, float]
    first_token: Mapping[str, float]
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    versions: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    ledger_dates: tuple[str, ...] = ()

    @property
    def details(self) -> dict[str, str]:
        """For each type of failure the first sentence of the most frequent way."""
        return {kind: ways[0][0] for kind, ways in self.ways.items()}

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON."""
        notes = [str(note) for note in self.notes]
        return {**asdict(self), "notes": notes, "details": self.details}


def summarise(
    target: Target, samples: Sequence[Sample], from_ledger: Sequence[float]
) -> AskSummary:
    """The summary of a system's samples. Of the answers that an earlier run got, ``from_ledger``
    holds when they were asked, in seconds since 1970."""
    asked = [sample.metadata[ASKED] for sample in samples]
    failures = grouped(
        (one["failure"], f"query {sample.id!r}: {(sample.failure or '').partition(': ')[2]}")
        for sample, one in zip(samples, asked, strict=True)
        if "failure" in one
    )
    counts = {kind: len(sentences) for kind, sentences in failures.items()}
    days = [datetime.fromtimestamp(at, UTC).date().isoformat() for at in from_ledger]
    return AskSummary(
        system=target.name,
        fingerprint=target.fingerprint,
        asked=len(samples),
        answered=sum(sample.answer is not None for sample in samples),
        no_answer=sum(NO_ANSWER in sample.metadata for sample in samples),
        from_ledger=len(from_ledger),
        ledger_dates=(min(days), max(days)) if days else (),
        failed=dict(sorted(counts.items(), key=lambda one: (one[0] == STOPPED, -one[1]))),
        ways={kind: tuple(distinct_failures(one)) for kind, one in failures.items()},
        retries=sum(max(0, one.get("attempts", 1) - 1) for one in asked),
        latency=_percentiles(_values(asked, "latency")),
        first_token=_percentiles(_values(asked, "first_token")),
        input_tokens=_sum(asked, "input_tokens"),
        output_tokens=_sum(asked, "output_tokens"),
        cost=_sum(asked, "cost"),
        versions=tuple(dict.fromkeys(map(str, _values(asked, "version")))),
        notes=tuple(_notes(samples)),
    )


def _notes(samples: Sequence[Sample]) -> Iterator[Note]:
    """What measurements are missing, which keys were not read, what had failed before."""
    asked = [sample.metadata[ASKED] for sample in samples]
    places = grouped(
        ((name, one["place"]), f"{one['found']} (query {sample.id!r})")
        for sample in samples
        for name, one in sample.metadata[ASKED].get("unread", {}).items()
    )
    for (name, place), found in places.items():
        kind = "ask_unread_scores" if name == PASSAGE_SCORES else "ask_unread"
        yield Note(kind, {"n": len(found), "what": name, "place": place, "found": found[0]})
    keys = grouped((tuple(one.metadata[ASKED].get("not_read", ())), one.id) for one in samples)
    for unknown, ids in keys.items():
        hints = [f"{one!r}: {hint} " for one in unknown if (hint := did_you_mean(one, NAMES))]
        if unknown:
            yield Note(
                "ask_keys_not_read",
                {"n": len(ids), "keys": ", ".join(map(repr, unknown)), "query": repr(ids[0]),
                 "hints": "".join(hints), "known": ", ".join(NAMES)},
            )  # fmt: skip
    n_answered = sum(one.answer is not None for one in samples)
    missing = Counter(path for one in asked for path in one.get("not_found", {}).items())
    for (path, file), n in missing.items():
        if n == n_answered:
            yield Note("ask_path_never_fits", {"n": n, "path": path, "file": file})
    what = "queries, repeats counted," if any(one.repeat for one in samples) else "queries"
    if n := len(_values(asked, FAILED_BEFORE)):
        yield Note("ask_failed_before", {"n": n, "total": len(samples), "what": what})
    if reasons := _values(asked, NOT_ASKED):
        yield Note(
            "ask_not_asked_again",
            {"n": len(reasons), "total": len(samples), "what": what, "why": reasons[0].rstrip(".")},
        )


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    import numpy as np

    if not values:
        return {}
    levels = np.percentile(values, PERCENTILES)
    return {f"p{at}": float(level) for at, level in zip(PERCENTILES, levels, strict=True)}


def _values(asked: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """What was recorded under a name, of those askings that have it."""
    return [one[name] for one in asked if name in one]


def _sum(asked: Sequence[Mapping[str, Any]], name: str) -> Any:
    values = _values(asked, name)
    return sum(values) if values else None
