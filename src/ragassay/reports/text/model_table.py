"""The models that ragassay uses, as a table and as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from ragassay.base.counts import few
from ragassay.engine.models.model_survey import Surveyed
from ragassay.models.weights.fetching import readable

_SHOWN = 4
"""Metrics that are named in the table; the rest is counted."""


def table(models: Sequence[Surveyed]) -> RenderableType:
    """Each model with what it is for, its licence and size, and where it is."""
    columns = Column("licence", no_wrap=True), Column("size", justify="right", no_wrap=True)
    model = Column("model", overflow="fold", ratio=1)
    grid = Table(model, *columns, box=None, pad_edge=False)
    for one in models:
        grid.add_row(_what(one), one.facts.licence or "?", _size(one))
    hint = Text(
        "'ragassay models fetch NAME' downloads one, 'ragassay models check' tries those that are "
        "here; --model NAME=FOLDER names a folder that holds one.",
        style="dim",
    )
    return Group(grid, Text(""), hint)


def as_json(models: Sequence[Surveyed]) -> list[Mapping[str, Any]]:
    """The same as data: sizes in bytes, ``null`` for what is not known or not here."""
    return [
        {
            "name": one.name,
            "commit": one.commit or None,
            "what": one.facts.what,
            "licence": one.facts.licence or None,
            "size": one.facts.size or None,
            "tokenizer_only": one.facts.tokenizer,
            "needs": list(one.facts.companions),
            "metrics": {name: list(suites) for name, suites in one.metrics.items()},
            "here": not one.problem,
            "folder": None if one.folder is None else str(one.folder),
            "named": one.given,
            "bytes_here": one.size or None,
            "problem": one.problem or None,
        }
        for one in models
    ]


def _what(one: Surveyed) -> RenderableType:
    name = Text.assemble((one.name, "bold"), (f" @ {one.commit}" if one.commit else "", "dim"))
    lines: list[Text] = []
    if one.facts.what:
        lines.append(Text(one.facts.what))
    if one.metrics:
        lines.append(Text(f"for {_metrics(one.metrics)}", "cyan"))
    if one.facts.companions:
        lines.append(Text(f"with the tokenizer of {', '.join(one.facts.companions)}", "dim"))
    if one.folder is None:
        lines.append(Text("not here" if not one.given else one.problem, "yellow"))
    else:
        where = "named folder" if one.given else "cache"
        lines.append(Text(f"{where}: {escape(str(one.folder))}", "green"))
        if one.problem:
            lines.append(Text(one.problem, "yellow"))
    return Group(name, *(Padding(line, (0, 0, 0, 2)) for line in lines))


def _metrics(metrics: Mapping[str, Sequence[str]]) -> str:
    """The suites' metrics first, each with its suite."""
    ordered = sorted(metrics.items(), key=lambda item: not item[1])
    names = [f"{name} ({', '.join(suites)})" if suites else name for name, suites in ordered]
    return few(names, _SHOWN)


def _size(one: Surveyed) -> str:
    size = one.size if one.folder is not None and not one.problem else one.facts.size
    return readable(size) if size else "?"
