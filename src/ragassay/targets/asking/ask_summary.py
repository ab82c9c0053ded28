"""What came of asking a system, in numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from ragassay.base.counts import either, plural
from ragassay.base.errors import did_you_mean
from ragassay.base.sample import Sample
from ragassay.targets.asking.measurements import (
    ASKED,
    FAILED_BEFORE,
    NO_ANSWER,
    NOT_ASKED,
    STOPPED,
)
from ragassay.targets.reply_shapes import NAMES, PASSAGE_SCORES

PERCENTILES = (50, 90, 95, 99)

MOST_WAYS = 5
"""Different failures that are listed one by one; the others are counted."""

_VARYING = re.compile(
    r"""(?<!\w)'(?:[^'\\]|\\.)*' | (?<!\w)"(?:[^"\\]|\\.)*" | (?<!status[ ])\b[\w-]*\d[\w-]*""",
    re.VERBOSE,
)
"""What may differ between failures of one way: words that are quoted, numbers, identifiers."""


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
        notes: sentences about measurements that are missing, because what the system gave for them
            is no number or its paths found nothing, about keys of its replies that were not read,
            and about queries that had failed before.
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
    notes: tuple[str, ...] = ()
    ledger_dates: tuple[str, ...] = ()

    @property
    def details(self) -> dict[str, str]:
        """For each type of failure the first sentence of the most frequent way."""
        return {kind: ways[0][0] for kind, ways in self.ways.items()}

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON."""
        return {**asdict(self), "details": self.details}


def summarise(
    system: str, fingerprint: str, samples: Sequence[Sample], from_ledger: Sequence[float]
) -> AskSummary:
    """The summary of a system's samples.

    Args:
        system: its name.
        fingerprint: of the target.
        samples: as it answered them.
        from_ledger: when those of the answers were asked that an earlier run got, in seconds since
            1970.
    """
    asked = [sample.metadata[ASKED] for sample in samples]
    failures: dict[str, list[str]] = defaultdict(list)
    for sample in samples:
        if kind := sample.metadata[ASKED].get("failure"):
            reason = (sample.failure or "").partition(": ")[2]
            failures[kind].append(f"query {sample.id!r}: {reason}")
    counts = {kind: len(sentences) for kind, sentences in failures.items()}
    return AskSummary(
        system=system,
        fingerprint=fingerprint,
        asked=len(samples),
        answered=sum(sample.answer is not None for sample in samples),
        no_answer=sum(NO_ANSWER in sample.metadata for sample in samples),
        from_ledger=len(from_ledger),
        ledger_dates=tuple(
            datetime.fromtimestamp(at(from_ledger), UTC).date().isoformat() for at in (min, max)
        )
        if from_ledger
        else (),
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


def distinct_failures(details: Iterable[str]) -> list[tuple[str, int]]:
    """The different ways in which something failed, the most frequent first.

    Args:
        details: a sentence of each failure.

    Returns:
        The first sentence of each way, and how many there are.
    """
    first: dict[str, str] = {}
    counts: dict[str, int] = {}
    for detail in details:
        way = _VARYING.sub("", detail)
        first.setdefault(way, detail)
        counts[way] = counts.get(way, 0) + 1
    return sorted(((first[way], n) for way, n in counts.items()), key=lambda one: -one[1])


def _notes(samples: Sequence[Sample]) -> Iterator[str]:
    """A sentence for each place of the replies that should hold a measurement and does not."""
    unread: dict[tuple[str, str], list[str]] = defaultdict(list)
    for sample in samples:
        for name, one in sample.metadata[ASKED].get("unread", {}).items():
            unread[name, one["place"]].append(f"{one['found']} (query {sample.id!r})")
    for (name, place), held in unread.items():
        number, pronoun = "number of 0 or more", "it is"
        if name == PASSAGE_SCORES:
            number, pronoun = "finite number", "they are"
        yield (
            f"{plural(len(held), 'answer')} {either(len(held), 'gives', 'give')} no {number} "
            f"for {name} at {place}, but {held[0]}: {pronoun} not measured there."
        )
    yield from _keys_not_read(samples)
    yield from _paths_without_effect(samples)
    yield from _failed_before(samples)


def _failed_before(samples: Sequence[Sample]) -> Iterator[str]:
    """What the failures of earlier runs mean for the numbers of this one."""
    asked = [sample.metadata[ASKED] for sample in samples]
    noun = "queries, repeats counted," if any(one.repeat for one in samples) else "queries"
    if n := len(_values(asked, FAILED_BEFORE)):
        yield (
            f"{n:,} of {len(samples):,} {noun} had failed before and {either(n, 'was', 'were')} "
            "asked again; error_rate counts the last time only (--refresh asks all anew)."
        )
    if reasons := _values(asked, NOT_ASKED):
        yield (
            f"{len(reasons):,} of {len(samples):,} {noun} failed in an earlier run and "
            f"{either(len(reasons), 'was', 'were')} not asked again; that failure counts. The "
            f"asking was stopped: {reasons[0]}"
        )


def _paths_without_effect(samples: Sequence[Sample]) -> Iterator[str]:
    """A sentence for each path to a measurement that found nothing in any reply."""
    asked = [one.metadata[ASKED] for one in samples if one.answer is not None]
    missing = Counter(path for one in asked for path in one.get("not_found", {}).items())
    for (path, file), n in missing.items():
        if n == len(asked):
            yield (
                f"the path {path} found nothing in {n:,} of {plural(n, 'reply')}; correct it in "
                f"{file}, or end it in ? if it may be missing."
            )


def _keys_not_read(samples: Sequence[Sample]) -> Iterator[str]:
    """A sentence for each set of keys that were returned and not read."""
    ids: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for sample in samples:
        if keys := tuple(sample.metadata[ASKED].get("not_read", ())):
            ids[keys].append(sample.id)
    known = f"Known are {', '.join(NAMES)}."
    for keys, having in ids.items():
        names = ", ".join(map(repr, keys))
        hints = [f"{name!r}: {hint}" for name in keys if (hint := did_you_mean(name, NAMES))]
        yield (
            f"{plural(len(having), 'answer')} {either(len(having), 'has', 'have')} keys that are "
            f"not read: {names} (query {having[0]!r}). {' '.join((*hints, known))}"
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
