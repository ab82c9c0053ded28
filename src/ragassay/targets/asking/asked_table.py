"""What came of asking, as a report: a row for each system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.base.counts import either, plural
from ragassay.reports.model import Column, Report, lines, table
from ragassay.targets.asking.ask_summary import AskSummary
from ragassay.targets.asking.system import MOST_WAYS

_COLUMNS = {
    "asked": 2, "answered": 0, "no answer": 3, "from ledger": 5, "failed": 0, "retries": 5,
    "p50": 0, "p95": 0, "p99": 4, "tokens": 1, "cost": 1,
}  # fmt: skip
"""The columns beside the system. Where there is no room, those with the highest number are left out
first: how many were asked is the sum of those answered and those failed."""

_EMPTY = 6
_MILLION = 1_000_000
_DOLLARS_EXACT = 10.0
"""Sums below this many dollars are shown with four decimals."""


def asked_report(summaries: Sequence[AskSummary]) -> Report:
    """What came of asking: counts, times and costs of each system, and why answers are missing."""
    rows = [_row(one) for one in summaries]
    _, *values = zip(*rows, strict=True)
    columns = [Column("system", "name")]
    for (head, drop), cells in zip(_COLUMNS.items(), values, strict=True):
        is_empty = {*cells} <= {"0", "-"}
        columns.append(
            Column(head, drop=_EMPTY, instead=()) if is_empty else Column(head, drop=drop)
        )
    return Report("", (table(columns, rows), lines(lines_below(summaries), "text")))


def failure_lines(summaries: Sequence[AskSummary]) -> Iterator[str]:
    """Why answers are missing: a line for each system and different failure, by type."""
    for one, kind in ((each, kind) for each in summaries for kind in each.failed):
        n, ways = one.failed[kind], one.ways[kind]
        for sentence, of in ways[:MOST_WAYS]:
            yield f"{one.system}: {f'{of:,} of ' if len(ways) > 1 else ''}{n:,} {kind}: {sentence}"
        if others := ways[MOST_WAYS:]:
            left, further = sum(of for _, of in others), plural(len(others), "further way")
            yield f"{one.system}: {left:,} of {n:,} {kind}: in {further}."


def lines_below(summaries: Sequence[AskSummary]) -> list[str]:
    """What stands below the table: answers from the ledger, failures and notes."""
    from_ledger = (
        f"{one.system}: {one.from_ledger:,} of {plural(one.answered, 'answer')} "
        f"{either(one.from_ledger, 'is', 'are')} from the ledger (asked "
        f"{' to '.join(dict.fromkeys(one.ledger_dates))}); --refresh asks the system again."
        for one in summaries
        if one.ledger_dates
    )
    return [*from_ledger, *failure_lines(summaries), *note_lines(summaries)]


def note_lines(summaries: Sequence[AskSummary]) -> list[str]:
    """The notes of all systems: measurements that are missing, and so on."""
    return [f"{one.system}: {note}" for one in summaries for note in one.notes]


def _row(one: AskSummary) -> list[str]:
    """The row of a system, a cell for each column."""
    read, written = one.input_tokens, one.output_tokens
    tokens = "-" if read is None or written is None else _count(read + written)
    counts = (one.asked, one.answered, one.no_answer, one.from_ledger, sum(one.failed.values()))
    return [
        one.system,
        *(f"{n:,}" for n in (*counts, one.retries)),
        *(_seconds(one.latency.get(at)) for at in ("p50", "p95", "p99")),
        tokens,
        "-" if one.cost is None else _dollars(one.cost),
    ]


def _count(n: int) -> str:
    return f"{n:,}" if n < _MILLION else f"{n / _MILLION:,.1f}M"


def _dollars(cost: float) -> str:
    return f"${cost:,.4f}" if cost < _DOLLARS_EXACT else f"${cost:,.2f}"


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"
