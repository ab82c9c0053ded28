"""What a file holds, and what a run of it would ask its judge: ``validate``, ``run --dry-run``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ragassay.engine.plan.cost_estimate import Amount, CallPlan, Range
from ragassay.engine.plan.data_preview import EmbeddingPlan, Preview
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
from ragassay.transport.prices import as_of

_FITS: dict[str, Style] = {"fits": "good", "may not fit": "doubt", "does not fit": "bad"}
"""Styles of the verdicts of a budget; that of the others is doubt."""

_NAMES = 4
"""Metrics that ask the same, named in one cell before "and N more"."""


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
    if preview.suites:
        blocks += _suites(preview)
    scored = _scored(preview)
    unscored = ((_lack(preview, name), name) for name in preview.applicable if name not in scored)
    blocks.append(lines(wording.sentences("cannot be scored: {1} ({0})", unscored)))
    if preview.repeated is not None:
        run_twice = wording.plural(preview.repeated, "query")
        blocks.append(lines([f"consistency: {run_twice} with two runs or more"], "text"))
    if preview.calls is not None:
        blocks.append(call_part(preview.calls))
    if preview.embedding is not None:
        blocks.append(lines([_embedding(preview.embedding)], "text"))
    samples, queries = wording.plural(n, "sample"), wording.plural(preview.n_queries, "query")
    about = f"read as {preview.format}: {samples} of {queries}, {_verdict(preview)}"
    return Report(preview.title, tuple(blocks), about)


def _scored(preview: Preview) -> list[str]:
    """The metrics that can be scored now, or with what they need installed."""
    return [name for name, n in preview.applicable.items() if n or preview.needs_extra.get(name)]


def _metrics(preview: Preview) -> Iterator[Block]:
    if not (scored := _scored(preview)):
        return
    rows = []
    for name in scored:
        extra = preview.needs_extra.get(name, 0)
        lacking = f"{extra:,} more: needs extra" if extra else ""
        rows.append([name, _share(preview.applicable[name], preview.n_samples), lacking])
    columns = [Column("metric", "name"), Column("can be scored"), Column("", "words")]
    yield without_empty(table(columns, rows))
    extras = ((why, name) for name, why in preview.extras.items())
    yield lines(wording.sentences("needs extra: {} ({}).", extras), "text", "doubt")


def call_part(plan: CallPlan) -> Part:
    """Calls, tokens and money for each metric and in total, time, and what all of it assumes."""
    if not plan.asks:
        title = f"judge {plan.judge}: 0 calls; it answers here, nothing is sent or paid"
        return part(title, lines(plan.notes, "text", "doubt"))
    title = f"judge {plan.judge}: what the run would ask; nothing was sent"
    return part(title, _calls(plan), lines(_lines(plan), "text"))


def _calls(plan: CallPlan) -> Table:
    """The table of calls: each metric by itself, and last all together."""

    def row(name: str, amount: Amount) -> list[str]:
        held = _span(amount.held, _count)
        if amount.held.high:
            held += f" {_span(amount.held_share, _percent)}"
        return [
            name,
            _span(amount.calls, _count),
            held,
            *(_span(size, _short) for size in (amount.input_tokens, amount.output_tokens)),
            "unknown" if amount.cost is None else _span(amount.cost, _dollars),
            _span(plan.throughput.span(amount), _duration),
        ]

    heads = ("calls", "in ledger", "tokens in", "tokens out", "cost", "time")
    rows = [row(_listed(names), amount) for names, amount in plan.metrics.items()]
    columns = [Column("metric, alone", "words"), *map(Column, heads)]
    return table(columns, [*rows, row("together", plan.total)])


def _lines(plan: CallPlan) -> Iterator[Cell]:
    """Sentences below the table of calls."""
    total = plan.total
    asks = total.calls.high > 0
    if asks:
        yield Cell(f"Time: {_time_sentence(plan)}.", style="strong")
    elif total.held.high:
        yield Cell("Nothing to ask: the ledger holds every answer.", style="strong")
    else:
        yield Cell("Nothing to ask: no sample has what a metric asks about.", style="strong")
    if plan.budget is not None:
        verdict = plan.budget.verdict
        sentence = "no price is known, so dollars cannot be planned (give --price IN,OUT)"
        if verdict in _FITS:
            stop = "; the run would stop there and keep what is scored" if verdict != "fits" else ""
            sentence = f"the plan {verdict}{stop}"
        yield Cell(f"Budget {plan.budget.budget}: {sentence}.", style=_FITS.get(verdict, "doubt"))
    kinds = [
        f"{_span(calls, _count)} {kind}" for kind, calls in plan.questions.items() if calls.high
    ]
    if kinds:
        yield Cell(f"Calls by question: {', '.join(kinds)}.", style="dim")
    if plan.shared:
        fewer = f"{wording.plural(plan.shared, 'call')} fewer than line by line."
        yield Cell(f"What several metrics ask is asked once: {fewer}", style="dim")
    for note in plan.notes:
        yield Cell(note, style="dim")
    if plan.n_walked < plan.n_samples:
        of = f"{plan.n_walked:,} of {plan.n_samples:,} samples"
        yield Cell(f"Extrapolated from the first {of}.", style="dim")
    if asks and not total.calls.exact:
        yield Cell(
            "How many questions follow depends on the answers: hence the intervals.", style="dim"
        )
    if asks:
        much = "Retries, repairs and hidden reasoning come on top."
        yield Cell(f"Tokens are estimated from the texts. {much}", style="dim")
    if asks and total.cost is None:
        how = "give it with --price IN,OUT, in dollars a million tokens."
        yield Cell(f"No price is known for this model: {how}", style="dim")
    elif asks and plan.listed_prices and total.cost is not None and total.cost.high:
        listed = f"the makers' lists of {as_of()}; --price IN,OUT takes their place."
        yield Cell(f"Prices: {listed}", style="dim")
    for detail, n in plan.failed.items():
        yield Cell(f"{wording.plural(n, 'sample')} could not be planned: {detail}.", style="doubt")


def _time_sentence(plan: CallPlan) -> str:
    throughput = plan.throughput
    each = f"{throughput.seconds:.2g} s a call"
    basis = f"{each} as in the ledger's last answers" if throughput.measured else f"assuming {each}"
    limits = [f"{throughput.concurrency:,} at once", basis]
    if throughput.rpm is not None:
        limits.append(f"{throughput.rpm:g} requests a minute")
    if throughput.tpm is not None:
        limits.append(f"{throughput.tpm:g} tokens a minute")
    return f"about {_span(plan.seconds, _duration)} ({', '.join(limits)})"


def _listed(names: tuple[str, ...]) -> str:
    shown = [wording.one_line(name) for name in names]
    if len(shown) > _NAMES:
        rest = len(shown) - _NAMES + 1
        shown = [*shown[: _NAMES - 1], f"and {rest} more"]
    return ", ".join(shown)


def _span(ends: Range, spell: Callable[[float], str]) -> str:
    """Both ends, or one where they read the same."""
    low, high = spell(ends.low), spell(ends.high)
    return low if low == high else f"{low} – {high}"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{math.floor(value * 100)}%"


def _short(tokens: float) -> str:
    """Three digits at most: ``950``, ``12.3k``, ``4.56M``."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if tokens >= 0.9995 * size:
            value = tokens / size
            digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{value:.{digits}f}{unit}"
    return f"{tokens:.0f}"


def _dollars(value: float) -> str:
    if value == 0:
        return "$0"
    if value < 0.00005:
        return "<$0.0001"
    return f"${value:,.{4 if value < 0.0005 else 3 if value < 0.9995 else 2}f}"


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


def _verdict(preview: Preview) -> str:
    if can_score(preview):
        return "no faults"
    fitting = [name for name, fit in preview.suites.items() if fit.n_samples]
    if fitting:
        flags = " or ".join(f"--suite {name}" for name in fitting[:2])
        return f"readable, but no metric of this run can be scored; other suites can: {flags}"
    return "readable, but nothing can be scored"


def _lack(preview: Preview, name: str) -> str:
    """Why a metric can score no sample: what most of them lack."""
    return next(iter(preview.lacking.get(name, ())), "no samples")


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


def _embedding(plan: EmbeddingPlan) -> str:
    texts = wording.plural(plan.texts, "distinct text")
    held = f", {plan.held:,} of them in the ledger" if plan.held else ""
    cost = "no price known" if plan.cost is None else f"${plan.cost:,.4f}"
    sent = f"; about {plan.input_tokens:,} tokens to send, {cost}" if plan.held < plan.texts else ""
    return f"{plan.embedder} would embed {texts}{held}{sent}"


def _share(count: int, n: int) -> str:
    return f"{count:,} of {n:,}" if n else "0"
