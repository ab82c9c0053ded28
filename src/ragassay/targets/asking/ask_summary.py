"""What came of asking: the samples while they come, their numbers, a report of systems."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragassay.base.note import Note
from ragassay.base.printable import dollars, either, grouped, plural
from ragassay.base.sample import Sample
from ragassay.reports.model import Column, Report, lines, table
from ragassay.targets.asking.system import (
    ASKED,
    FAILED_BEFORE,
    MOST_WAYS,
    NO_ANSWER,
    NOT_ASKED,
    STOPPED,
    distinct_failures,
)
from ragassay.targets.target import Target

PERCENTILES = (50, 90, 95, 99)


@dataclass(frozen=True)
class AskSummary:
    """What came of asking one system: samples by outcome; ``ways`` has for each type of failure the
    first sentences with their queries and numbers; seconds by percentile (``p50``); tokens and cost
    of the answers that have them, ``None`` where none does."""

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

    @property
    def details(self) -> dict[str, str]:
        """For each type of failure the first sentence of the most frequent way."""
        return {kind: ways[0][0] for kind, ways in self.ways.items()}

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON."""
        notes = [str(note) for note in self.notes]
        return {**asdict(self), "notes": notes, "details": self.details}


def summarise(target: Target, samples: Sequence[Sample], from_ledger: int) -> AskSummary:
    """The summary of a system's samples, so many of which an earlier run got."""
    asked = [sample.metadata[ASKED] for sample in samples]
    failures = grouped(
        (value["failure"], f"query {sample.id!r}: {value['detail']}")
        for sample, value in zip(samples, asked, strict=True)
        if "failure" in value
    )
    counts = {kind: len(sentences) for kind, sentences in failures.items()}
    return AskSummary(
        system=target.name,
        fingerprint=target.fingerprint,
        asked=len(samples),
        answered=sum("failure" not in value for value in asked),
        no_answer=sum(NO_ANSWER in sample.metadata for sample in samples),
        from_ledger=from_ledger,
        failed=dict(sorted(counts.items(), key=lambda value: (value[0] == STOPPED, -value[1]))),
        ways={kind: tuple(distinct_failures(failure)) for kind, failure in failures.items()},
        retries=sum(max(0, value.get("attempts", 1) - 1) for value in asked),
        latency=_percentiles(_values(asked, "latency")),
        first_token=_percentiles(_values(asked, "first_token")),
        input_tokens=_sum(asked, "input_tokens"),
        output_tokens=_sum(asked, "output_tokens"),
        cost=_sum(asked, "cost"),
        versions=tuple(dict.fromkeys(map(str, _values(asked, "version")))),
        notes=tuple(_notes(samples)),
    )


def _notes(samples: Sequence[Sample]) -> Iterator[Note]:
    """What measurements are missing, and what had failed before."""
    asked = [sample.metadata[ASKED] for sample in samples]
    n_answered = sum("failure" not in value for value in asked)
    missing = Counter(path for value in asked for path in value.get("not_found", {}).items())
    for (path, file), n in missing.items():
        if n == n_answered:
            yield Note("ask_path_never_fits", {"n": n, "path": path, "file": file})
    what = "queries, repeats counted," if any(sample.repeat for sample in samples) else "queries"
    facts: dict[str, Any] = {"total": len(samples), "what": what}
    if n := len(_values(asked, FAILED_BEFORE)):
        yield Note("ask_failed_before", {**facts, "n": n})
    if reasons := _values(asked, NOT_ASKED):
        why = {"n": len(reasons), "why": reasons[0].rstrip(".")}
        yield Note("ask_not_asked_again", {**facts, **why})
    if n := sum(sample.answer is not None for sample in samples) - n_answered:
        yield Note("ask_earlier_answers", {**facts, "n": n})


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    import numpy as np

    if not values:
        return {}
    levels = np.percentile(values, PERCENTILES)
    return {f"p{at}": float(level) for at, level in zip(PERCENTILES, levels, strict=True)}


def _values(asked: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [record[name] for record in asked if name in record]


def _sum(asked: Sequence[Mapping[str, Any]], name: str) -> Any:
    values = _values(asked, name)
    return sum(values) if values else None


_COLUMNS = {
    "samples": 2, "answered": 0, "no answer": 3, "from ledger": 5, "failed": 0, "retries": 5,
    "p50": 0, "p95": 0, "p99": 4, "tokens": 1, "cost": 1,
}  # fmt: skip
"""The columns beside the system. Where there is no room, those with the highest number are left out
first: the samples are the sum of those answered and those failed."""

_EMPTY = 6


def asked_report(summaries: Sequence[AskSummary]) -> Report:
    """What came of asking: counts, times and costs of each system, and why answers are missing."""
    rows = [_row(summary) for summary in summaries]
    _, *values = zip(*rows, strict=True)
    columns = [Column("system", "name")]
    for (head, drop), cells in zip(_COLUMNS.items(), values, strict=True):
        is_empty = {*cells} <= {"0", "-"}
        columns.append(Column(head, drop=_EMPTY if is_empty else drop))
    from_ledger = (
        f"{summary.system}: {summary.from_ledger:,} of {plural(summary.answered, 'answer')} "
        f"{either(summary.from_ledger, 'is', 'are')} from the ledger; "
        "--refresh asks the system again."
        for summary in summaries
        if summary.from_ledger
    )
    below = [*from_ledger, *failure_lines(summaries), *note_lines(summaries)]
    return Report("", (table(columns, rows), lines(below, "text")))


def failure_lines(summaries: Sequence[AskSummary]) -> Iterator[str]:
    """Why answers are missing: a line for each system and different failure, by type."""
    for summary, kind in ((each, kind) for each in summaries for kind in each.failed):
        n, ways = summary.failed[kind], summary.ways[kind]
        for sentence, of in ways[:MOST_WAYS]:
            how_many = f"{of:,} of " if len(ways) > 1 else ""
            yield f"{summary.system}: {how_many}{n:,} {kind}: {sentence}"
        if others := ways[MOST_WAYS:]:
            left, further = sum(of for _, of in others), plural(len(others), "further way")
            yield f"{summary.system}: {left:,} of {n:,} {kind}: in {further}."


def note_lines(summaries: Sequence[AskSummary]) -> list[str]:
    """The notes of all systems: measurements that are missing, and so on."""
    return [f"{summary.system}: {note}" for summary in summaries for note in summary.notes]


def _row(summary: AskSummary) -> list[str]:
    read, written = summary.input_tokens, summary.output_tokens
    total = None if read is None or written is None else read + written
    tokens = "-" if total is None else f"{total:,}" if total < 1e6 else f"{total / 1e6:,.1f}M"
    counts = (summary.asked, summary.answered, summary.no_answer, summary.from_ledger)
    return [
        summary.system,
        *(f"{n:,}" for n in (*counts, sum(summary.failed.values()), summary.retries)),
        *(_seconds(summary.latency.get(at)) for at in ("p50", "p95", "p99")),
        tokens,
        "-" if summary.cost is None else dollars(summary.cost),
    ]


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


LOOK_EVERY_S = 0.1
"""Seconds between two reports of progress, and between two looks for new samples."""


@dataclass(frozen=True)
class Answers:
    """The result of asking.

    Attributes:
        samples: for each system and query, and for each repeat, a sample with the answer or the
            failure. ``metadata["asked"]`` holds what was measured.
        summaries: by system.
        files: that were written, by system.
    """

    samples: tuple[Sample, ...]
    summaries: Mapping[str, AskSummary]
    files: Mapping[str, Path]

    @property
    def complete(self) -> bool:
        """Whether there is an answer to each query."""
        return all(summary.answered == summary.asked for summary in self.summaries.values())

    def __repr__(self) -> str:
        return f"<Answers: systems={len(self.summaries)} samples={len(self.samples)}>"

    def __str__(self) -> str:
        from ragassay.reports.run_reports import text_of

        return text_of(asked_report(list(self.summaries.values())))

    def _repr_html_(self) -> str:
        from ragassay.reports.run_reports import html_of

        return html_of(asked_report(list(self.summaries.values())))

    def of(self, system: str) -> list[Sample]:
        """The samples of one system."""
        return [sample for sample in self.samples if sample.system == system]


class Arriving:
    """The samples of a system, in their order, while they come. Read by any thread, as often as
    wanted: who reads waits for what is not there yet, and gets the error that ended the asking."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._ended = threading.Event()
        self._error: BaseException | None = None

    def __iter__(self) -> Iterator[Sample]:
        at = 0
        while True:
            over = self._ended.is_set()  # before looking: what came before the end is seen
            new = self.samples[at:]
            yield from new
            at += len(new)
            if over and not new:
                if self._error is not None:
                    raise self._error
                return
            # Nobody wakes a reader for a single sample: that would cost more than the sample.
            if not new:
                self._ended.wait(LOOK_EVERY_S)

    def end(self, error: BaseException | None) -> None:
        """There will be no more samples; ``error`` ended the asking."""
        self._error = error
        self._ended.set()
