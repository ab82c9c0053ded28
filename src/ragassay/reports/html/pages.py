"""One self-contained HTML file: no network, dark and light, usable at thousands of queries.

Tables and plots show without scripts. The page's security policy allows its own scripts (by their
hashes) and nothing else, so that even a mistake in escaping could run and load nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ragassay
from ragassay.base import files, printable
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.diagnosis.diagnosing import Diagnosis, diagnose, headline_of
from ragassay.engine.diagnosis.moved_classes import Moved, moved
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.reports.charts.figures import markup
from ragassay.reports.drawn.html import page_of
from ragassay.reports.html.query_browser import ComparisonBrowser, RunBrowser
from ragassay.reports.text import wording
from ragassay.reports.views.page_view import comparison_page, run_page

if TYPE_CHECKING:
    from jinja2 import Environment

ASSETS = Path(__file__).parent / "assets"
"""The folder of the pages' styles and scripts."""
_TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("elements.js", "pack.js", "rows.js", "browser.js", "answer.js", "details.js", "start.js")
"""The scripts of the list of samples, in their order."""


def write_report(result: Result, path: str | Path) -> None:
    """Writes a run as one HTML file."""
    diagnosis = diagnosed(result)
    _write(path, **run_parts(result, diagnosis), browser=RunBrowser(result, diagnosis))


def run_parts(
    result: Result, diagnosis: Diagnosis | None, *, linked: bool = True
) -> dict[str, Any]:
    """What the template ``browsed.html.j2`` shows of a run, beside the list of its samples; the
    arguments are those of `run_page`."""
    summary = result.summary
    page = page_of(run_page(result, diagnosis, linked=linked))
    of = ", ".join(dict.fromkeys(filter(None, (summary.title, summary.system))))
    title = f"{of} · {summary.suite or 'evaluation'}"
    return {"page": replace(page, title=title), "kind": "evaluation"}


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
    _write(path, **comparison_parts(comparison, a, b))


def comparison_parts(comparison: Comparison, a: Result, b: Result) -> dict[str, Any]:
    """What the template ``browsed.html.j2`` shows of a new run (A) and an old one (B)."""
    b = aligned(b, a)
    change = _moved(a, b)
    page = page_of(comparison_page(comparison, a, b, change))
    browser = None if comparison.unpaired else ComparisonBrowser(comparison, a, b, change)
    return {"page": page, "kind": "comparison", "browser": browser}


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


def _write(path: str | Path, **context: Any) -> None:
    early, late, style = (
        markup("".join((ASSETS / name).read_text(encoding="utf-8") for name in names))
        for names in (["theme.js"], SCRIPTS, ["report.css"])
    )
    template = environment(
        early_script=early, late_script=late, style=style, policy=_policy(early, late)
    ).get_template("browsed.html.j2")
    write_page(path, template.stream(**context))


def write_page(path: str | Path, pieces: Iterable[str]) -> None:
    """Writes a page as it streams, without characters that command a terminal."""
    with files.atomic(path) as stream:
        for piece in pieces:
            stream.write(printable.escaped(piece).encode("utf-8", "replace"))


@cache
def environment(*templates: Path, **names: Any) -> Environment:
    """Jinja's environment for pages; the same arguments give the same one, so that each template is
    compiled once. Nobody may change it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    created = Environment(
        loader=FileSystemLoader([*templates, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    created.globals.update(
        version=ragassay.__version__, served="", scripts=SCRIPTS, wording=wording
    )
    created.globals.update(names)
    created.filters["raw"] = markup
    return created


def _policy(*scripts: str) -> str:
    """A content security policy that runs these scripts only and loads nothing."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'"
