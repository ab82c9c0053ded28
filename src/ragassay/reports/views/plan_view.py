"""What a file holds, and what a run of it would ask its judge: ``validate``, ``run --dry-run``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal

from ragassay.base.printable import dollars, few
from ragassay.engine.run.cost_estimate import CallPlan, Range
from ragassay.engine.run.data_preview import Preview
from ragassay.reports.model import Block, Cell, Column, Part, Report, Style, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence
from ragassay.transport.providers_and_prices import as_of

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
    failures = (f"{why} ({wording.plural(k, 'sample')})" for why, k in preview.failures.items())
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
    verdict = "no errors" if can_score(preview) else "readable, but nothing can be scored"
    about = f"read as {preview.format}: {samples} of {queries}, {verdict}"
    return Report(preview.title, tuple(blocks), about)


def _metrics(preview: Preview) -> Iterator[Block]:
    """The metrics that can be scored, now or with what they need installed, the suites that suit
    the data, and the metrics that cannot be scored."""
    n, extra = preview.n_samples, preview.needs_extra
    scored = [name for name, of in preview.applicable.items() if of or extra.get(name)]
    columns = [Column("metric", "name"), Column("can be scored"), Column("", "words")]
    rows = (
        [
            name,
            _share(preview.applicable[name], n),
            f"{extra[name]:,} more: needs extra" if extra.get(name) else "",
        ]
        for name in scored
    )
    yield table(columns, rows).without_empty()
    extras = ((why, name) for name, why in preview.extras.items() if scored)
    yield lines(wording.sentences("needs extra: {} ({}).", extras), "text", "doubt")
    if preview.suites:
        seen = next(iter(preview.suites.values())).n_seen
        first = "" if seen == n else f" of the first {seen:,}"
        columns = [Column("suite that fits", "name"), Column(f"samples{first}")]
        fits = {name: fit for name, fit in preview.suites.items() if fit.n_samples}
        yield table(columns, ([name, _share(fit.n_samples, seen)] for name, fit in fits.items()))
        if none := [name for name in preview.suites if name not in fits]:
            yield lines([f"suites that fit no sample: {', '.join(none)}"])
    unscored = (
        (next(iter(preview.lacking.get(name, ())), "no samples"), name)  # what most of them lack
        for name in preview.applicable
        if name not in scored
    )
    yield lines(wording.sentences("cannot be scored: {1} ({0})", unscored))


def call_part(plan: CallPlan) -> Part:
    """Calls, tokens and money for each metric and in total, time, and what all of it assumes."""
    if not plan.asks:
        return part(f"judge {plan.judge}: nothing is sent or paid")
    columns = [Column("metric, alone", "words")]
    columns += map(Column, ("calls", "in ledger", "tokens in", "tokens out", "cost", "time"))
    rows = [
        [
            few([wording.one_line(name) for name in names], _NAMES),
            _span(amount.calls, _COUNT),
            _span(amount.held, _COUNT),
            *(_span(size, _short) for size in (amount.input_tokens, amount.output_tokens)),
            "unknown" if amount.cost is None else _span(amount.cost, dollars),
            _span(plan.throughput.span(amount.calls, amount.tokens), _duration),
        ]
        for names, amount in (*plan.metrics.items(), (("together",), plan.total))
    ]
    title = f"judge {plan.judge}: what the run would ask; nothing was sent"
    return part(title, table(columns, rows), lines(_lines(plan), "text"))


def _lines(plan: CallPlan) -> Iterator[Cell]:
    """Sentences below the table of calls."""
    total, throughput = plan.total, plan.throughput
    asks, cost = total.calls.high > 0, total.cost
    each = f"{throughput.seconds:.2g} s a call"
    limits = [
        f"{throughput.concurrency:,} at once",
        f"{each} as in the ledger's last answers" if throughput.measured else f"assuming {each}",
        "" if throughput.rpm is None else f"{throughput.rpm:g} requests per minute",
        "" if throughput.tpm is None else f"{throughput.tpm:g} tokens per minute",
    ]
    span = _span(throughput.span(total.calls, total.tokens), _duration)
    time = sentence("plan_time", span=span, limits=", ".join(filter(None, limits)))
    nothing = sentence("all_in_ledger") if total.held.high else sentence("nothing_to_ask")
    yield Cell(time if asks else nothing, style="strong")
    if plan.fit is not None:
        kind, style = _FITS.get(plan.fit, ("budget_unpriced", "doubt"))
        yield Cell(sentence(kind, budget=str(plan.budget)), style=style)
    dim = (
        (plan.n_walked < plan.n_samples, "extrapolated"),
        (asks and not total.calls.exact, "answers_decide"),
        (asks, "tokens_estimated"),
        (asks and cost is None, "price_unknown"),
        (asks and plan.listed_prices and cost is not None and cost.high, "prices_listed"),
    )
    facts = {"walked": plan.n_walked, "samples": plan.n_samples, "day": as_of()}
    said = [sentence(kind, **facts) for holds, kind in dim if holds]
    yield from (Cell(note, style="dim") for note in said)
    for detail, n in plan.failed.items():
        yield Cell(sentence("not_planned", n=n, why=detail), style="doubt")


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


def _duration(seconds: float) -> str:
    """``2 s``, ``1 min 40 s``, ``3 h 5 min``."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, of_hour = divmod(minutes + (rest > 0), 60)
    if not minutes:
        return f"{rest} s"
    if minutes < 100:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{hours} h {of_hour} min" if of_hour else f"{hours} h"


def can_score(preview: Preview) -> bool:
    """Whether a metric of the run can score a sample now or with what it needs installed."""
    counts = [*preview.applicable.values(), *preview.needs_extra.values()]
    return any(counts) or not preview.applicable


def _share(count: int, n: int) -> str:
    return f"{count:,} of {n:,}" if n else "0"
