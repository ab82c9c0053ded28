"""What a file holds, and what a run of it would ask its judge: ``validate``, ``run --dry-run``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal

from ragassay.base.counts import few
from ragassay.engine.plan.cost_estimate import Amount, CallPlan, Range
from ragassay.engine.plan.data_preview import Preview
from ragassay.reports.model import (
    Block,
    Cell,
    Column,
    Part,
    Report,
    Style,
    Table,
    lines,
    part,
    table,
    without_empty,
)
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence
from ragassay.transport.prices import as_of

_FITS: dict[str, tuple[str, Style]] = {
    "fits": ("budget_fits", "good"),
    "may not fit": ("budget_may_not_fit", "doubt"),
    "does not fit": ("budget_does_not_fit", "bad"),
}
"""Sentences and styles of the verdicts of a budget."""

_COUNT = "{:,.0f}".format

_NAMES = 3
"""Metrics that ask the same, named in one cell."""


def preview_report(preview: Preview) -> Report:
    """Counts of samples, parts and applicable metrics, and what a judge would be asked."""
    n = preview.n_samples
    blocks: list[Block] = []
    if len(preview.systems) > 1 or "(none)" not in preview.systems:
        systems = ", ".join(f"{name} {count:,}" for name, count in preview.systems.items())
        blocks.append(lines([f"systems: {systems}"], "text"))
    failures = (
        f"{reason}: {wording.plural(count, 'sample')}" for reason, count in preview.failures.items()
    )
    blocks.append(lines(failures, "text", "doubt"))
    parts = ([part, _share(count, n)] for part, count in preview.parts.items())
    blocks.append(table([Column("part of a sample", "name"), Column("samples")], parts))
    blocks += _metrics(preview)
    if preview.repeated is not None:
        run_twice = wording.plural(preview.repeated, "query")
        blocks.append(lines([f"consistency: {run_twice} with two runs or more"], "text"))
    if preview.calls is not None:
        blocks.append(call_part(preview.calls))
    samples, queries = wording.plural(n, "sample"), wording.plural(preview.n_queries, "query")
    verdict = "no faults" if can_score(preview) else "readable, but nothing can be scored"
    about = f"read as {preview.format}: {samples} of {queries}, {verdict}"
    return Report(preview.title, tuple(blocks), about)


def _metrics(preview: Preview) -> Iterator[Block]:
    """The metrics that can be scored, now or with what they need installed, and the others."""
    scored = {
        name: preview.needs_extra.get(name, 0)
        for name, n in preview.applicable.items()
        if n or preview.needs_extra.get(name)
    }
    columns = [Column("metric", "name"), Column("can be scored"), Column("", "words")]
    rows = (
        [
            name,
            _share(preview.applicable[name], preview.n_samples),
            f"{extra:,} more: needs extra" if extra else "",
        ]
        for name, extra in scored.items()
    )
    yield without_empty(table(columns, rows))
    extras = ((why, name) for name, why in preview.extras.items() if scored)
    yield lines(wording.sentences("needs extra: {} ({}).", extras), "text", "doubt")
    if preview.suites:
        yield from _suites(preview)
    unscored = (
        (next(iter(preview.lacking.get(name, ())), "no samples"), name)  # what most of them lack
        for name in preview.applicable
        if name not in scored
    )
    yield lines(wording.sentences("cannot be scored: {1} ({0})", unscored))


def call_part(plan: CallPlan) -> Part:
    """Calls, tokens and money for each metric and in total, time, and what all of it assumes."""
    if not plan.asks:
        title = f"judge {plan.judge}: 0 calls; it answers here, nothing is sent or paid"
        return part(title, lines(map(str, plan.notes), "text", "doubt"))
    title = f"judge {plan.judge}: what the run would ask; nothing was sent"
    return part(title, _calls(plan), lines(_lines(plan), "text"))


def _calls(plan: CallPlan) -> Table:
    """The table of calls: each metric by itself, and last all together."""

    def row(name: str, amount: Amount) -> list[str]:
        return [
            name,
            _span(amount.calls, _COUNT),
            _span(amount.held, _COUNT),
            *(_span(size, _short) for size in (amount.input_tokens, amount.output_tokens)),
            "unknown" if amount.cost is None else _span(amount.cost, _dollars),
            _span(plan.throughput.span(amount.calls, amount.tokens), _duration),
        ]

    heads = ("calls", "in ledger", "tokens in", "tokens out", "cost", "time")
    rows = [
        row(few([wording.one_line(name) for name in names], _NAMES), amount)
        for names, amount in plan.metrics.items()
    ]
    columns = [Column("metric, alone", "words"), *map(Column, heads)]
    return table(columns, [*rows, row("together", plan.total)])


def _lines(plan: CallPlan) -> Iterator[Cell]:
    """Sentences below the table of calls."""
    total = plan.total
    asks, cost = total.calls.high > 0, total.cost
    first = sentence("all_in_ledger") if total.held.high else sentence("nothing_to_ask")
    yield Cell(_time_sentence(plan) if asks else first, style="strong")
    if plan.fit is not None:
        kind, style = _FITS.get(plan.fit, ("budget_unpriced", "doubt"))
        yield Cell(sentence(kind, budget=str(plan.budget)), style=style)
    kinds = ((_span(calls, _COUNT), kind) for kind, calls in plan.questions.items() if calls.high)
    by_kind = ", ".join(map(" ".join, kinds))
    dim = (
        (by_kind, "calls_by_kind"),
        (plan.n_walked < plan.n_samples, "extrapolated"),
        (asks and not total.calls.exact, "answers_decide"),
        (asks, "tokens_estimated"),
        (asks and cost is None, "price_unknown"),
        (asks and plan.listed_prices and cost is not None and cost.high, "prices_listed"),
    )
    facts = {"kinds": by_kind, "walked": plan.n_walked, "samples": plan.n_samples, "day": as_of()}
    said = [sentence(kind, **facts) for holds, kind in dim if holds]
    yield from (Cell(one, style="dim") for one in (*said, *map(str, plan.notes)))
    for detail, n in plan.failed.items():
        yield Cell(sentence("not_planned", n=n, why=detail), style="doubt")


def _time_sentence(plan: CallPlan) -> str:
    throughput = plan.throughput
    each = f"{throughput.seconds:.2g} s a call"
    limits = [
        f"{throughput.concurrency:,} at once",
        f"{each} as in the ledger's last answers" if throughput.measured else f"assuming {each}",
        "" if throughput.rpm is None else f"{throughput.rpm:g} requests a minute",
        "" if throughput.tpm is None else f"{throughput.tpm:g} tokens a minute",
    ]
    span = _span(plan.seconds, _duration)
    return sentence("plan_time", span=span, limits=", ".join(filter(None, limits)))


def _span(ends: Range, spell: Callable[[float], str]) -> str:
    """Both ends, or one where they read the same."""
    low, high = spell(ends.low), spell(ends.high)
    return low if low == high else f"{low} – {high}"


def _short(tokens: float) -> str:
    """Three digits at most: ``950``, ``12.3k``, ``4.56M``."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if tokens >= 0.9995 * size:
            return f"{Decimal(f'{tokens / size:.2e}'):f}{unit}"
    return f"{tokens:.0f}"


def _dollars(value: float) -> str:
    if 0 < value < 0.00005:
        return "<$0.0001"
    return f"${value:,.{4 if value < 0.0005 else 3 if value < 0.9995 else 2}f}" if value else "$0"


def _duration(seconds: float) -> str:
    """``2 s``, ``1 min 40 s``, ``3 h 5 min``."""
    rounded = math.ceil(seconds)
    if rounded < 100:
        return f"{rounded} s"
    minutes, rest = divmod(rounded, 60)
    if minutes < 100:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(math.ceil(rounded / 60), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def can_score(preview: Preview) -> bool:
    """Whether a metric of the run can score a sample now or with what it needs installed."""
    counts = [*preview.applicable.values(), *preview.needs_extra.values()]
    return any(counts) or not preview.applicable


def _suites(preview: Preview) -> Iterator[Block]:
    """The suites that could score a sample, and those that could not."""
    seen = next(iter(preview.suites.values())).n_seen
    first = "" if seen == preview.n_samples else f" of the first {seen:,}"
    columns = [
        Column("suite that the data suits", "name"),
        *map(Column, (f"samples{first}", "metrics")),
    ]
    rows = [
        [name, _share(fit.n_samples, seen), f"{fit.n_applicable} of {fit.n_metrics}"]
        for name, fit in preview.suites.items()
        if fit.n_samples
    ]
    if rows:
        yield table(columns, rows)
    if none := [name for name, fit in preview.suites.items() if not fit.n_samples]:
        yield lines([f"no sample can be scored by: {', '.join(none)}"])


def _share(count: int, n: int) -> str:
    return f"{count:,} of {n:,}" if n else "0"
