"""The pages of a run and of a comparison: the reports of the command line, and what only a page has
room for, each as one self-contained HTML file: no network, dark and light.

Tables and plots show without scripts. The page's security policy allows its own scripts (by their
hashes) and nothing else, so that even a mistake in escaping could run and load nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ragassay
from ragassay.base import files, printable
from ragassay.base.errors import UsageError
from ragassay.engine.diagnosis.moved_classes import with_change
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.reports.charts import svg
from ragassay.reports.drawn.html import page_of
from ragassay.reports.html.query_browser import comparison_browser, run_browser
from ragassay.reports.model import Block, Cell, Column, Part, Report, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.views.comparison_view import differences, primary_of, statistics, verdicts
from ragassay.reports.views.diagnosis_view import broken_line, moved_report
from ragassay.reports.views.summary_view import gate_lines, name_of, slice_parts, written_report

if TYPE_CHECKING:
    from jinja2 import Environment

ASSETS = Path(__file__).parent / "assets"
"""The folder of the pages' styles and scripts."""
_TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("elements.js", "pack.js", "rows.js", "browser.js", "answer.js", "details.js", "start.js")
"""The scripts of the list of samples, in their order."""


def write_report(result: Result, path: str | Path, title: str | None = None) -> None:
    """Writes a run as one HTML file, under a title of its own where none is given."""
    _write(path, run_parts(result, title) | {"browser": run_browser(result)})


def run_parts(
    result: Result, title: str | None = None, *, in_folder: bool = True
) -> dict[str, Any]:
    """What the template ``browsed.html.j2`` shows of a run, beside the list of its samples."""
    report = written_report(result, linked=True, in_folder=in_folder).titled(title)
    details = [_method(result)]
    if not result.summary.is_empty:
        figures = (lines([wording.sentence("distributions")]), _distributions(result))
        details.insert(0, part("Distributions", *figures, aside=True))
    page = page_of(replace(report, blocks=(*report.blocks, *details)))
    return {"page": page, "kind": "evaluation"}


def write_comparison(comparison: Comparison, path: str | Path, title: str | None = None) -> None:
    """Writes the comparison of a new run (A) with an old one (B) as one HTML file."""
    _write(path, comparison_parts(comparison, title))


def comparison_parts(comparison: Comparison, title: str | None = None) -> dict[str, Any]:
    """What the template ``browsed.html.j2`` shows of a new run (A) and an old one (B)."""
    a, b = runs_of(comparison)
    comparison = with_change(comparison, most=None)
    page = page_of(_comparison_page(comparison, a, b).titled(title))
    browser = None if comparison.unpaired else comparison_browser(comparison, a, b)
    return {"page": page, "kind": "comparison", "browser": browser}


def runs_of(comparison: Comparison) -> tuple[Result, Result]:
    """The runs of a comparison, where it holds them."""
    if comparison.runs is None:
        raise UsageError(
            "This comparison does not hold its runs, so it cannot be drawn. Compare them again: "
            "ragassay.compare(new, old)."
        )
    return comparison.runs


def _distributions(result: Result) -> Block:
    """A card for each metric with scores."""
    cards = []
    for metric in result.summary.metrics.values():
        scored = result.columns.scored(metric.name)
        if scored.any():
            ends = {"median": metric.median, "sd": metric.std, "min": metric.minimum,
                    "max": metric.maximum}  # fmt: skip
            below = " · ".join(f"{word} {wording.number(end)}" for word, end in ends.items())
            values = result.columns.values(metric.name)[scored]
            figure = partial(svg.distribution, metric, values)
            name = name_of(metric.name, metric.higher_is_better)
            cards.append(replace(name, figure=figure, below=(below,)))
    return lines(cards, "figures")


def _method(*runs: Result, first: Sequence[Block] = ()) -> Part:
    """The signatures and configurations of runs, after other blocks."""
    import yaml

    blocks = list(first)
    for run in runs:
        columns = [Column("metric", "name"), Column("interval", "words"), Column("judge", "words"),
                   Column("signature", "words")]  # fmt: skip
        said = wording.words()
        rows = (
            (m.name, said.get(f"interval_{m.interval}", m.interval), m.judge, m.signature)
            for m in run.summary.metrics.values()
        )
        signed = table(columns, rows).without_empty()
        written = yaml.safe_dump(dict(run.config), sort_keys=False, allow_unicode=True)
        configuration = part("Configuration and versions", lines([written], "code"), aside=True)
        blocks.append(part(run.name, signed, configuration))
    same = lines(["Compare two numbers only if their signatures are equal."])
    return part("Method", *blocks, same, aside=True)


def _comparison_page(comparison: Comparison, a: Result, b: Result) -> Report:
    """The page of a comparison; its last part is the method."""
    shown = primary_of(comparison)
    warnings = lines(wording.all_said(shown.notes, "warning"), "warning")
    said = wording.all_said(shown.notes, "note")
    if any(d.low is not None for d in shown.with_scores):
        said.append(wording.sentence("intervals_of_differences", level=comparison.level))
    parts = [part("Differences", differences(shown), gate_lines(comparison.gates), lines(said))]
    only = {"new": comparison.only_a, "old": comparison.only_b} if not comparison.unpaired else {}
    alone = (f"{wording.plural(n, 'query')} only in the {run} run" for run, n in only.items() if n)
    about = f"Compared on {', '.join((wording.compared_on(comparison), *alone))}"
    if comparison.change is not None:
        moved = moved_report(comparison.change, linked=True)
        parts.append(part("Why samples fail", *moved.blocks))
        runs = ("new", comparison.change.new, a.columns), ("old", comparison.change.old, b.columns)
        if slices := slice_parts(a.summary, *runs):
            parts.append(part("Slices", *slices, aside=True))
    details = lines(wording.all_said(comparison.notes, "detail"))
    others = tuple(d for d in comparison.with_scores if d not in shown.differences)
    if others:
        parts.append(part("Other metrics", differences(replace(comparison, differences=others))))
    parts.append(_method(a, b, first=[details, statistics(comparison)]))
    verdict, *further = verdicts(comparison)
    broken = broken_line(comparison, classes=False)
    what = comparison.change.words[0] if comparison.change else ""
    linked = (Cell(text, link=f"filter:{what}") for text in broken)
    first = (lines([*further, *linked], "text"), warnings)
    return Report(wording.against(comparison), (*first, *parts), about, verdict)


def _write(path: str | Path, context: Mapping[str, Any]) -> None:
    """Writes a page as it streams, without characters that command a terminal."""
    early, late, style = (
        svg.markup("".join((ASSETS / name).read_text(encoding="utf-8") for name in names))
        for names in (["theme.js"], SCRIPTS, ["report.css"])
    )
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in (early, late)
    )
    policy = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'"
    template = environment(
        early_script=early, late_script=late, style=style, policy=policy
    ).get_template("browsed.html.j2")
    with files.atomic(path) as stream:
        for piece in template.stream(**context):
            stream.write(printable.escaped(piece).encode("utf-8", "replace"))


@cache
def environment(*templates: Path, **names: Any) -> Environment:
    """Jinja's environment for pages: one for the same arguments, which nobody may change."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    created = Environment(
        loader=FileSystemLoader([*templates, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shared = {"version": ragassay.__version__, "served": "", "scripts": SCRIPTS, "wording": wording}
    created.globals.update(shared | names)
    created.filters["raw"] = svg.markup
    return created
