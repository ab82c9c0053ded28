"""The models that ragassay uses, as a table and as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.base.counts import few
from ragassay.engine.models.model_survey import Surveyed
from ragassay.models.weights.fetching import readable
from ragassay.reports.model import Cell, Column, Report, lines, table

_SHOWN = 4
"""Metrics that are named in the table; the rest is counted."""


def models_report(models: Sequence[Surveyed]) -> Report:
    """Each model with what it is for, its licence and size, and where it is."""
    columns = [Column("model", "name", style="strong"), Column("what it is for", "words")]
    rows = ((one.name, Cell(one.facts.what, below=_about(one))) for one in models)
    hint = (
        "'ragassay models fetch NAME' downloads one, 'ragassay models check' tries those that are "
        "here; --model NAME=FOLDER names a folder that holds one."
    )
    return Report("", (table(columns, rows), lines([hint])))


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


def _about(one: Surveyed) -> tuple[str, ...]:
    """The metrics of a model (the suites' first, each with its suite), its licence and size, and
    where it is."""
    facts, here = one.facts, one.folder is not None
    ordered = sorted(one.metrics.items(), key=lambda item: not item[1])
    names = [f"{name} ({', '.join(suites)})" if suites else name for name, suites in ordered]
    size = one.size if here and not one.problem else facts.size
    about = (
        f"for {few(names, _SHOWN)}" if names else "",
        f"commit {one.commit}" if one.commit else "",
        f"licence {facts.licence or '?'}, {readable(size) if size else '?'}",
        f"with the tokenizer of {', '.join(facts.companions)}" if facts.companions else "",
        f"{'named folder' if one.given else 'cache'}: {one.folder}" if here else "",
        one.problem if here or one.given else "not here",
    )
    return tuple(filter(None, about))
