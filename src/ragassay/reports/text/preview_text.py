"""What a file holds, for ``validate`` and ``run --dry-run``."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ragassay.engine.models import EmbeddingPlan
from ragassay.engine.plan import Preview
from ragassay.reports.text import wording
from ragassay.reports.text.grouping import sentences
from ragassay.reports.text.plan import plan_table


def preview_table(preview: Preview) -> RenderableType:
    """Counts of samples, parts and applicable metrics, and what a judge would be asked."""
    n = preview.n_samples
    head = Text.assemble(
        (preview.title, "bold"),
        f"  read as {preview.format}: {wording.plural(n, 'sample')} of "
        f"{wording.plural(preview.n_queries, 'query')}, no faults",
    )
    blocks: list[RenderableType] = [head]
    if len(preview.systems) > 1 or "(none)" not in preview.systems:
        named = ", ".join(f"{name} {count:,}" for name, count in preview.systems.items())
        blocks.append(Text(f"systems: {named}"))
    for reason, count in preview.failures.items():
        blocks.append(Text(f"{reason}: {wording.plural(count, 'sample')}", style="yellow"))
    grid = Table(box=None, pad_edge=False)
    grid.add_column("part of a sample")
    grid.add_column("samples", justify="right")
    for part, count in preview.parts.items():
        grid.add_row(part, _share(count, n), style="dim" if not count else "")
    blocks += [Text(""), grid]
    if preview.applicable:
        grid = Table(box=None, pad_edge=False)
        grid.add_column("metric", overflow="fold")
        grid.add_column("can be scored", justify="right")
        grid.add_column("")
        for name, count in preview.applicable.items():
            extra = preview.needs_extra.get(name, 0)
            lacking = f"{extra:,} more: needs extra" if extra else ""
            grid.add_row(escape(name), _share(count, n), lacking, style="dim" if not count else "")
        blocks += [Text(""), grid]
        extras = ((why, name) for name, why in preview.extras.items())
        blocks += [Text(line, "yellow") for line in sentences("needs extra: {} ({}).", extras)]
    if preview.repeated is not None:
        run_twice = wording.plural(preview.repeated, "query")
        blocks += [Text(""), Text(f"consistency: {run_twice} with two runs or more")]
    if preview.calls is not None:
        blocks += [Text(""), plan_table(preview.calls)]
    if preview.embedding is not None:
        blocks += [Text(""), Text(_embedding(preview.embedding))]
    return Group(*blocks)


def _embedding(plan: EmbeddingPlan) -> str:
    texts = wording.plural(plan.texts, "distinct text")
    held = f", {plan.held:,} of them in the ledger" if plan.held else ""
    cost = "no price known" if plan.cost is None else f"${plan.cost:,.4f}"
    sent = f"; about {plan.input_tokens:,} tokens to send, {cost}" if plan.held < plan.texts else ""
    return f"{plan.embedder} would embed {texts}{held}{sent}"


def _share(count: int, n: int) -> str:
    return f"{count:,} of {n:,}" if n else "0"
