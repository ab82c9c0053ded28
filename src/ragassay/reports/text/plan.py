"""What a run would ask its judge, for ``run --dry-run``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragassay.engine.plan import Amount, CallPlan, Range
from ragassay.reports.text import wording
from ragassay.transport import as_of

_FITS = {
    "fits": ("the plan fits", "green"),
    "may not fit": (
        "the plan may not fit; the run would stop there and keep what is scored", "yellow"),
    "does not fit": (
        "the plan does not fit; the run would stop there and keep what is scored", "red"),
    "no price known": (
        "no price is known, so dollars cannot be planned (give --price IN,OUT)", "yellow"),
}  # fmt: skip
_NAMES = 4
"""Metrics that ask the same, named in one cell before "and N more"."""

_WIDE = 100


def plan_table(plan: CallPlan) -> RenderableType:
    """Calls, tokens and money for each metric and in total, time, and what all of it assumes."""
    return _PlanView(plan)


@dataclass(frozen=True)
class _PlanView:
    plan: CallPlan

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        plan, plain = self.plan, options.ascii_only
        head = Text.assemble(("judge ", ""), (wording.one_line(plan.judge), "bold"))
        if not plan.asks:
            head.append("  0 calls: it answers here, nothing is sent and nothing is paid")
            yield head
            return
        head.append("  what the run would ask; nothing was sent")
        yield head
        yield Padding(self._table(options.max_width >= _WIDE, plain), (0, 0, 0, 1))
        lines: list[RenderableType] = [
            Text(line, style=style) for line, style in plan_lines(plan, plain)
        ]
        yield Padding(Group(*lines), (0, 1))

    def _table(self, wide: bool, plain: bool) -> Table:
        plan = self.plan
        table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
        heads = ["calls", "in ledger", "tokens in", "tokens out", "cost", "time"]
        if not wide:
            heads = ["calls", "in ledger", "tokens", "cost", "time"]
        table.add_column("metric, alone", overflow="fold")
        for head in heads:
            table.add_column(head, justify="right", no_wrap=True)
        for names, amount in plan.metrics.items():
            time = Text(_span(plan.pace.span(amount), _duration, plain))
            table.add_row(Text(_named(names)), *_cells(amount, wide, plain), time)
        table.add_section()
        cells = [
            *_cells(plan.total, wide, plain),
            Text(_span(plan.seconds, _duration, plain)),
        ]
        table.add_row(Text("together"), *cells, style="bold")
        return table


def plan_lines(plan: CallPlan, plain: bool = False) -> list[tuple[str, str]]:
    """Sentences beside the table, each with a style.

    Args:
        plan: to be described.
        plain: whether the text is ASCII only.
    """
    lines: list[tuple[str, str]] = []
    if plan.total.calls.high == 0:
        held = plan.total.held.high
        asked = (
            "the ledger holds every answer" if held else "no sample has what a metric asks about"
        )
        lines.append((f"Nothing to ask: {asked}.", "bold"))
    else:
        lines.append((f"Time: {_time_sentence(plan, plain)}.", "bold"))
    if plan.budget is not None:
        sentence, style = _FITS[plan.budget.verdict]
        lines.append((f"Budget {plan.budget.budget}: {sentence}.", style))
    if plan.questions:
        kinds = [
            f"{_span(calls, _count, plain)} {kind}"
            for kind, calls in plan.questions.items()
            if calls.high
        ]
        if kinds:
            lines.append((f"Calls by question: {', '.join(kinds)}.", "dim"))
    if plan.shared:
        lines.append(
            (
                "What several metrics ask is asked once: "
                f"{wording.plural(plan.shared, 'call')} fewer than line by line.",
                "dim",
            )
        )
    lines += [(note, "dim") for note in _assumptions(plan)]
    for detail, n in plan.failed.items():
        lines.append((f"{wording.plural(n, 'sample')} could not be planned: {detail}.", "yellow"))
    return lines


def _assumptions(plan: CallPlan) -> list[str]:
    notes = list(plan.notes)
    if plan.n_walked < plan.n_samples:
        notes.append(
            f"Extrapolated from the first {plan.n_walked:,} of {plan.n_samples:,} samples."
        )
    if plan.total.calls.high == 0:
        return notes
    if not plan.total.calls.exact:
        notes.append("How many questions follow depends on the answers: hence the intervals.")
    notes.append(
        "Tokens are estimated from the texts. Retries, repairs and hidden reasoning come on top."
    )
    cost = plan.total.cost
    if cost is None:
        notes.append(
            "No price is known for this model: give it with --price IN,OUT, in dollars a "
            "million tokens."
        )
    elif cost.high and plan.listed_prices:
        notes.append(f"Prices: the makers' lists of {as_of()}; --price IN,OUT takes their place.")
    return notes


def _time_sentence(plan: CallPlan, plain: bool) -> str:
    pace = plan.pace
    each = f"{pace.seconds:.2g} s a call"
    basis = f"{each} as in the ledger's last answers" if pace.measured else f"assuming {each}"
    limits = [f"{pace.concurrency:,} at once", basis]
    if pace.rpm is not None:
        limits.append(f"{pace.rpm:g} requests a minute")
    if pace.tpm is not None:
        limits.append(f"{pace.tpm:g} tokens a minute")
    return f"about {_span(plan.seconds, _duration, plain)} ({', '.join(limits)})"


def _cells(amount: Amount, wide: bool, plain: bool) -> list[Text]:
    def cell(ends: Range | None, spell: Callable[[float], str]) -> Text:
        return Text("unknown" if ends is None else _span(ends, spell, plain))

    held = Text(_span(amount.held, _count, plain))
    if amount.held.high:
        held.append(f" {_span(amount.held_share, _percent, plain)}", style="dim")
    if wide:
        tokens = [cell(amount.input_tokens, _short), cell(amount.output_tokens, _short)]
    else:
        both = Range(
            amount.input_tokens.low + amount.output_tokens.low,
            amount.input_tokens.high + amount.output_tokens.high,
        )
        tokens = [cell(both, _short)]
    return [cell(amount.calls, _count), held, *tokens, cell(amount.cost, _dollars)]


def _named(names: tuple[str, ...]) -> str:
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
