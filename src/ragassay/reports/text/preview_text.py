"""What a file holds, and what a run of it would ask its judge: ``validate``, ``run --dry-run``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from ragassay.engine.plan.cost_estimate import Amount, CallPlan, Range
from ragassay.engine.plan.data_preview import Preview
from ragassay.engine.plan.model_plan import EmbeddingPlan
from ragassay.reports.text import wording
from ragassay.reports.text.grouping import sentences
from ragassay.reports.text.responsive_table import responsive, ruled
from ragassay.transport.prices import as_of

_FITS = {"fits": "green", "may not fit": "yellow", "does not fit": "red"}
"""Styles of the verdicts of a budget; that of the others is yellow."""

_NAMES = 4
"""Metrics that ask the same, named in one cell before "and N more"."""

_WIDE = 100


@responsive
def plan_table(plan: CallPlan, width: int, plain: bool) -> Iterator[RenderableType]:
    """Calls, tokens and money for each metric and in total, time, and what all of it assumes."""
    head = Text.assemble("judge ", (wording.one_line(plan.judge), "bold"))
    if not plan.asks:
        yield head.append("  0 calls: it answers here, nothing is sent and nothing is paid")
        yield from (Text(note, "yellow") for note in plan.notes)
        return
    yield head.append("  what the run would ask; nothing was sent")
    heads, (*rows, together) = call_cells(plan, width >= _WIDE, plain)
    table = ruled(*heads)
    for row in rows:
        table.add_row(*map(Text, row))
    table.add_section()
    table.add_row(*map(Text, together), style="bold")
    yield Padding(table, (0, 0, 0, 1))
    yield Padding(Group(*(Text(line, style) for line, style in _lines(plan, plain))), (0, 1))


def call_cells(
    plan: CallPlan, wide: bool = True, plain: bool = False
) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of calls: each metric by itself, and last all together.

    Args:
        plan: what a judge would be asked.
        wide: whether tokens in and out have a column each.
        plain: whether dashes must be ASCII.
    """
    tokens = ["tokens in", "tokens out"] if wide else ["tokens"]

    def row(name: str, amount: Amount) -> list[str]:
        held = _span(amount.held, _count, plain)
        if amount.held.high:
            held += f" {_span(amount.held_share, _percent, plain)}"
        sizes = [amount.input_tokens, amount.output_tokens] if wide else [amount.tokens]
        return [
            name,
            _span(amount.calls, _count, plain),
            held,
            *(_span(size, _short, plain) for size in sizes),
            "unknown" if amount.cost is None else _span(amount.cost, _dollars, plain),
            _span(plan.throughput.span(amount), _duration, plain),
        ]

    rows = [row(_listed(names), amount) for names, amount in plan.metrics.items()]
    heads = ["metric, alone", "calls", "in ledger", *tokens, "cost", "time"]
    return heads, [*rows, row("together", plan.total)]


def call_lines(plan: CallPlan) -> list[str]:
    """The sentences below the table of calls."""
    return [line for line, _ in _lines(plan, False)] if plan.asks else list(plan.notes)


def _lines(plan: CallPlan, plain: bool) -> Iterator[tuple[str, str]]:
    """Sentences beside the table, each with a style.

    Args:
        plan: to be described.
        plain: whether the text is ASCII only.
    """
    total = plan.total
    asks = total.calls.high > 0
    if asks:
        yield f"Time: {_time_sentence(plan, plain)}.", "bold"
    elif total.held.high:
        yield "Nothing to ask: the ledger holds every answer.", "bold"
    else:
        yield "Nothing to ask: no sample has what a metric asks about.", "bold"
    if plan.budget is not None:
        verdict = plan.budget.verdict
        sentence = "no price is known, so dollars cannot be planned (give --price IN,OUT)"
        if verdict in _FITS:
            stop = "; the run would stop there and keep what is scored" if verdict != "fits" else ""
            sentence = f"the plan {verdict}{stop}"
        yield f"Budget {plan.budget.budget}: {sentence}.", _FITS.get(verdict, "yellow")
    kinds = [
        f"{_span(calls, _count, plain)} {kind}"
        for kind, calls in plan.questions.items()
        if calls.high
    ]
    if kinds:
        yield f"Calls by question: {', '.join(kinds)}.", "dim"
    if plan.shared:
        fewer = f"{wording.plural(plan.shared, 'call')} fewer than line by line."
        yield f"What several metrics ask is asked once: {fewer}", "dim"
    for note in plan.notes:
        yield note, "dim"
    if plan.n_walked < plan.n_samples:
        of = f"{plan.n_walked:,} of {plan.n_samples:,} samples"
        yield f"Extrapolated from the first {of}.", "dim"
    if asks and not total.calls.exact:
        yield "How many questions follow depends on the answers: hence the intervals.", "dim"
    if asks:
        much = "Retries, repairs and hidden reasoning come on top."
        yield f"Tokens are estimated from the texts. {much}", "dim"
    if asks and total.cost is None:
        how = "give it with --price IN,OUT, in dollars a million tokens."
        yield f"No price is known for this model: {how}", "dim"
    elif asks and plan.listed_prices and total.cost is not None and total.cost.high:
        listed = f"the makers' lists of {as_of()}; --price IN,OUT takes their place."
        yield f"Prices: {listed}", "dim"
    for detail, n in plan.failed.items():
        yield f"{wording.plural(n, 'sample')} could not be planned: {detail}.", "yellow"


def _time_sentence(plan: CallPlan, plain: bool) -> str:
    throughput = plan.throughput
    each = f"{throughput.seconds:.2g} s a call"
    basis = f"{each} as in the ledger's last answers" if throughput.measured else f"assuming {each}"
    limits = [f"{throughput.concurrency:,} at once", basis]
    if throughput.rpm is not None:
        limits.append(f"{throughput.rpm:g} requests a minute")
    if throughput.tpm is not None:
        limits.append(f"{throughput.tpm:g} tokens a minute")
    return f"about {_span(plan.seconds, _duration, plain)} ({', '.join(limits)})"


def _listed(names: tuple[str, ...]) -> str:
    shown = [wording.one_line(name) for name in names]
    if len(shown) > _NAMES:
        rest = len(shown) - _NAMES + 1
        shown = [*shown[: _NAMES - 1], f"and {rest} more"]
    return ", ".join(shown)


def _span(ends: Range, spell: Callable[[float], str], plain: bool) -> str:
    """Both ends, or one where they read the same."""
    low, high = spell(ends.low), spell(ends.high)
    return low if low == high else f"{low}{' - ' if plain else ' – '}{high}"


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


def preview_table(preview: Preview) -> RenderableType:
    """Counts of samples, parts and applicable metrics, and what a judge would be asked."""
    n = preview.n_samples
    head = Text(preview_head(preview))
    head.stylize("bold", 0, len(preview.title))
    blocks: list[RenderableType] = [head]
    if len(preview.systems) > 1 or "(none)" not in preview.systems:
        systems = ", ".join(f"{name} {count:,}" for name, count in preview.systems.items())
        blocks.append(Text(f"systems: {systems}"))
    for reason, count in preview.failures.items():
        blocks.append(Text(f"{reason}: {wording.plural(count, 'sample')}", style="yellow"))
    grid = _grid("part of a sample", "samples")
    for part, count in preview.parts.items():
        grid.add_row(part, _share(count, n), style="dim" if not count else "")
    blocks += [Text(""), grid]
    scored = [
        name for name, n in preview.applicable.items() if n or preview.needs_extra.get(name, 0)
    ]
    if scored:
        grid = _grid("metric", "can be scored", Column(""))
        for name in scored:
            count, extra = preview.applicable[name], preview.needs_extra.get(name, 0)
            lacking = f"{extra:,} more: needs extra" if extra else ""
            grid.add_row(escape(name), _share(count, n), lacking, style="dim" if not count else "")
        blocks += [Text(""), grid]
        extras = ((why, name) for name, why in preview.extras.items())
        blocks += [Text(line, "yellow") for line in sentences("needs extra: {} ({}).", extras)]
    if preview.suites:
        blocks += [Text(""), _suites(preview)]
    unscored = ((_lack(preview, name), name) for name in preview.applicable if name not in scored)
    if lines := sentences("cannot be scored: {1} ({0})", unscored):
        blocks += [Text(""), *(Text(line, "dim") for line in lines)]
    if preview.repeated is not None:
        run_twice = wording.plural(preview.repeated, "query")
        blocks += [Text(""), Text(f"consistency: {run_twice} with two runs or more")]
    if preview.calls is not None:
        blocks += [Text(""), plan_table(preview.calls)]
    if preview.embedding is not None:
        blocks += [Text(""), Text(_embedding(preview.embedding))]
    return Group(*blocks)


def _grid(first: str, *columns: str | Column) -> Table:
    """A table without lines: names on the left, numbers on the right of their columns."""
    numbers = (Column(one, justify="right") if isinstance(one, str) else one for one in columns)
    return Table(Column(first, overflow="fold"), *numbers, box=None, pad_edge=False)


def preview_head(preview: Preview) -> str:
    """What was read, as which format, and whether it can be scored."""
    n = wording.plural(preview.n_samples, "sample")
    of = wording.plural(preview.n_queries, "query")
    return f"{preview.title}  read as {preview.format}: {n} of {of}, {_verdict(preview)}"


def metric_cells(preview: Preview) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a table: how many samples each metric can score, and what others lack."""
    n = preview.n_samples
    return ["metric", "can be scored", ""], [
        [name, _share(count, n), "" if count else _lack(preview, name)]
        for name, count in preview.applicable.items()
    ]


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


def _suites(preview: Preview) -> RenderableType:
    """The suites that could score a sample, and those that could not."""
    seen = next(iter(preview.suites.values())).n_seen
    first = "" if seen == preview.n_samples else f" of the first {seen:,}"
    grid = _grid("suite that the data suits", f"samples{first}", "metrics")
    for name, fit in preview.suites.items():
        if fit.n_samples:
            metrics = f"{fit.n_applicable} of {fit.n_metrics}"
            grid.add_row(name, _share(fit.n_samples, seen), metrics)
    none = [name for name, fit in preview.suites.items() if not fit.n_samples]
    lines: list[RenderableType] = [grid] if len(none) < len(preview.suites) else []
    if none:
        lines.append(Text(f"no sample can be scored by: {', '.join(none)}", style="dim"))
    return Group(*lines)


def _embedding(plan: EmbeddingPlan) -> str:
    texts = wording.plural(plan.texts, "distinct text")
    held = f", {plan.held:,} of them in the ledger" if plan.held else ""
    cost = "no price known" if plan.cost is None else f"${plan.cost:,.4f}"
    sent = f"; about {plan.input_tokens:,} tokens to send, {cost}" if plan.held < plan.texts else ""
    return f"{plan.embedder} would embed {texts}{held}{sent}"


def _share(count: int, n: int) -> str:
    return f"{count:,} of {n:,}" if n else "0"
