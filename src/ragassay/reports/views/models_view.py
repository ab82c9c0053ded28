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
    """The metrics of a model, its licence and size, and where it is."""
    where = "named folder" if one.given else "cache"
    about = (
        f"for {_metrics(one.metrics)}" if one.metrics else "",
        f"commit {one.commit}" if one.commit else "",
        f"licence {one.facts.licence or '?'}, {_size(one)}",
        _companions(one),
        "" if one.folder is None else f"{where}: {one.folder}",
        one.problem if one.folder is not None or one.given else "not here",
    )
    return tuple(filter(None, about))


def _companions(one: Surveyed) -> str:
    names = ", ".join(one.facts.companions)
    return f"with the tokenizer of {names}" if names else ""


def _metrics(metrics: Mapping[str, Sequence[str]]) -> str:
    """The suites' metrics first, each with its suite."""
    ordered = sorted(metrics.items(), key=lambda item: not item[1])
    names = [f"{name} ({', '.join(suites)})" if suites else name for name, suites in ordered]
    return few(names, _SHOWN)


def _size(one: Surveyed) -> str:
    size = one.size if one.folder is not None and not one.problem else one.facts.size
    return readable(size) if size else "?"
