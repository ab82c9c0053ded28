"""One self-contained HTML file: no network, dark and light, usable at thousands of queries.

Tables and plots are written as they are, so they show without scripts; the query browser is a
script of our own over embedded JSON. The page's security policy allows these scripts (by their
hashes) and nothing else, so that even a mistake in escaping could run and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ragassay
from ragassay.base import files, printable
from ragassay.base.counts import grouped
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.pairs import query_differences
from ragassay.engine.diagnosis.diagnosing import Diagnosis, diagnose, headline_of
from ragassay.engine.diagnosis.moved_classes import Moved, moved
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.result import CONSISTENCY
from ragassay.engine.results.summarising import IntervalOptions, slice_summaries
from ragassay.engine.results.summary import Slice, missing_by_accident
from ragassay.reports.charts import figures
from ragassay.reports.html.query_browser import FAULT_NUMBERS, ComparisonBrowser, RunBrowser
from ragassay.reports.model import Lines
from ragassay.reports.tables.rows_by_sample import consistency_of
from ragassay.reports.text import wording
from ragassay.reports.views import comparison_view, diagnosis_view, summary_notes
from ragassay.reports.views.comparison_view import comparison_report, extents
from ragassay.reports.views.consistency_view import consistency_report
from ragassay.reports.views.summary_view import by_column, families

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"
"""The folder of the pages' styles and scripts."""
_TEMPLATES = Path(__file__).parent / "templates"
_LATE = ("elements.js", "pack.js", "rows.js", "browser.js", "answer.js", "details.js", "start.js")


def write_report(result: Result, path: str | Path) -> None:
    """Writes a run as one HTML file.

    Args:
        result: of a run.
        path: of the file to write.

    Raises:
        UsageError: the file cannot be written.
    """
    parts = report_parts(result)
    _write(path, "run.html.j2", **parts, browser=RunBrowser(result, parts["diagnosis"]))


def report_parts(result: Result) -> dict[str, Any]:
    """What the template ``run.html.j2`` shows of a run, beside the list of its samples."""
    columns = result.columns
    return {
        "result": result,
        "summary": result.summary,
        "families": families(result.summary.metrics.values()),
        "scored": {name: columns.values(name)[columns.scored(name)] for name in columns.metrics},
        "slices": by_column(result.summary.slices),
        "consistency": _consistency(result),
        "diagnosis": diagnosed(result),
        "several": len({identity[1:] for identity in columns.identities}) > 1,
    }


def _consistency(result: Result) -> dict[str, Any] | None:
    """The part of a run's page on its consistency, or of that of the consistency itself."""
    inner = consistency_of(result)
    if inner is None:
        return None
    link = "" if inner is result or inner.folder is None else f"{CONSISTENCY}/report.html"
    return {"blocks": consistency_report(inner.summary).blocks, "link": link}


def diagnosed(result: Result) -> Diagnosis | None:
    """Why the samples of a run fail; ``None`` where no metric says which ones do, or where the
    system failed for each."""
    if headline_of(result) is None or result.summary.all_failed:
        return None
    return diagnose(result)


def write_comparison(comparison: Comparison, a: Result, b: Result, path: str | Path) -> None:
    """Writes the comparison of a new run (A) with an old one (B) as one HTML file.

    Args:
        comparison: of the two runs.
        a: the new run.
        b: the old run.
        path: of the file to write.

    Raises:
        UsageError: the file cannot be written.
    """
    _write(path, "comparison.html.j2", **comparison_parts(comparison, a, b))


def comparison_parts(comparison: Comparison, a: Result, b: Result) -> dict[str, Any]:
    """What the template ``comparison.html.j2`` shows of a new run (A) and an old one (B)."""
    metrics = a.summary.metrics
    b = aligned(b, a)
    names = [difference.name for difference in comparison.differences]
    differences = map(np.sort, query_differences(a, b, names))  # of each query, A - B
    return {
        "comparison": comparison,
        "a": a,
        "b": b,
        "metrics": metrics,
        "extents": extents(replace(comparison, runs=(a, b))),
        "notes": _notes(comparison),
        "sorted_differences": dict(zip(names, differences, strict=True)),
        "slices": _paired_slices(a, b, unpaired=comparison.unpaired),
        "moved": (change := _moved(a, b)),
        "browser": ComparisonBrowser(comparison, a, b, change),
    }


def _moved(a: Result, b: Result) -> Moved | None:
    """Which classes of failing samples a change moved; ``None`` where that cannot be told: no
    metric says which samples fail, a run holds several systems, or its system failed for each."""
    if any(run.summary.all_failed or len(run.columns.systems) > 1 for run in (a, b)):
        return None
    headline = headline_of(a)
    queries, others = ({one[0] for one in run.columns.identities} for run in (a, b))
    if headline is None or headline not in b.summary.metrics or queries.isdisjoint(others):
        return None
    return moved(a, b, headline=headline)


def _paired_slices(a: Result, b: Result, *, unpaired: bool) -> dict[str, list[tuple[Slice, Slice]]]:
    """Slices that both runs have, by column, over the queries that both have (over all, where these
    differ by design)."""
    first, second = ({one[0] for one in run.columns.identities} for run in (a, b))
    common = first | second if unpaired else first & second
    own, other = (_slices(run, common) for run in (a, b))
    others = {(piece.column, piece.value): piece for piece in other}
    pairs = (
        (piece.column, (piece, others[piece.column, piece.value]))
        for pieces in by_column(own).values()
        for piece in pieces
        if (piece.column, piece.value) in others
    )
    return grouped(pairs)


def _slices(run: Result, queries: set[str]) -> tuple[Slice, ...]:
    if all(one[0] in queries for one in run.columns.identities):
        return run.summary.slices
    options = IntervalOptions.of(run.config)
    return slice_summaries(run.columns, list(run.summary.metrics.values()), options, queries)


def _notes(comparison: Comparison) -> dict[str, list[str]]:
    """What there is to say about a comparison, by its level; the method last."""
    return {
        block.level: [line.text for line in block.lines]
        for block in comparison_report(comparison, full=True).blocks
        if isinstance(block, Lines)
    }


def _configuration(run: Result) -> str:
    import yaml

    return yaml.safe_dump(dict(run.config), sort_keys=False, allow_unicode=True)


def _write(path: str | Path, template: str, **context: Any) -> None:
    early, late, style = (
        figures.markup("".join((ASSETS / name).read_text(encoding="utf-8") for name in names))
        for names in (["theme.js"], _LATE, ["report.css"])
    )
    page = environment(
        early_script=early, late_script=late, style=style, policy=_policy(early, late)
    ).get_template(template)
    write_page(path, page.stream(**context))


def write_page(path: str | Path, pieces: Iterable[str]) -> None:
    """Writes a page as it streams, without characters that command a terminal.

    Raises:
        UsageError: the file cannot be written.
    """
    with files.atomic(path) as stream:
        for piece in pieces:
            stream.write(printable.escaped(piece).encode("utf-8", "replace"))


@cache
def environment(*templates: Path, **names: Any) -> Environment:
    """Jinja's environment for pages; the same arguments give the same one, so that each template is
    compiled once. Nobody may change it.

    Args:
        templates: folders of further templates.
        names: what all templates know besides. ``served`` is an address where a server has the
            styles and scripts; without it they stand in the page.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    created = Environment(
        loader=FileSystemLoader([*templates, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    created.globals.update(
        wording=wording,
        missing=missing_by_accident,
        summary_notes=summary_notes,
        comparison_view=comparison_view,
        figures=figures,
        diagnosis_view=diagnosis_view,
        fault_number=FAULT_NUMBERS,
        configuration=_configuration,
        version=ragassay.__version__,
        served="",
    )
    created.globals.update(names)
    created.filters["raw"] = figures.markup
    created.filters["breakable"] = _breakable
    return created


def _breakable(name: str) -> Markup:
    """A metric's name that may break at its punctuation."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(piece) for piece in wording.pieces(name))


def _policy(*scripts: str) -> str:
    """A content security policy that runs these scripts only and loads nothing."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'"
