"""One self-contained HTML file: no network, dark and light, usable at thousands of queries.

Tables and plots are written as they are, so they show without scripts; the query browser is a
script of our own over embedded JSON. The page's security policy allows these scripts (by their
hashes) and nothing else, so that even a mistake in escaping could run and load nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ragassay
from ragassay import files, printable
from ragassay.counts import grouped
from ragassay.engine.comparison import aligned, query_differences, query_matrix, rows_by_query
from ragassay.engine.diagnosis import (
    CLASSES,
    UNEXPLAINED,
    Diagnosis,
    Moved,
    diagnose,
    headline_of,
    moved,
)
from ragassay.engine.results import Comparison, MetricSummary, Result, Slice, missing_by_accident
from ragassay.reports.charts import Values
from ragassay.reports.html import figures
from ragassay.reports.html.browse import CHUNK, MAX_ROWS, TEXT_BUDGET, Details
from ragassay.reports.html.packing import TextPool, packed
from ragassay.reports.tables import consistency_table
from ragassay.reports.text import diagnosis_text, footnotes, grouping, wording
from ragassay.samples import Identity

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"
"""The folder of the pages' styles and scripts."""
_TEMPLATES = Path(__file__).parent / "templates"
_LATE = ("elements.js", "pack.js", "rows.js", "browser.js", "answer.js", "details.js", "start.js")
FAULTS = (*CLASSES, UNEXPLAINED)
"""The classes of failing samples, by the numbers that a page has for them."""
FAULT_NUMBERS = {one.name: at for at, one in enumerate(FAULTS)}


def write_report(result: Result, path: str | Path) -> None:
    """Writes a run as one HTML file.

    Args:
        result: of a run.
        path: of the file to write.

    Raises:
        UsageError: the file cannot be written.
    """
    parts = report_parts(result)
    _write(path, "run.html.j2", **parts, browser=_RunBrowser(result, parts["diagnosis"]))


def report_parts(result: Result) -> dict[str, Any]:
    """What the template ``run.html.j2`` shows of a run, beside the list of its samples."""
    columns = result.columns
    return {
        "result": result,
        "summary": result.summary,
        "families": grouping.families(result.summary.metrics.values()),
        "scored": {name: columns.values(name)[columns.scored(name)] for name in columns.metrics},
        "slices": grouping.by_column(result.summary.slices),
        "consistency": consistency_table.section(result),
        "diagnosis": diagnosed(result),
        "several": len({identity[1:] for identity in columns.identities}) > 1,
    }


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
    return {
        "comparison": comparison,
        "a": a,
        "b": b,
        "metrics": metrics,
        "extents": extents(comparison, metrics),
        "sorted_differences": _sorted_differences(comparison, a, b),
        "slices": _paired_slices(a, b),
        "moved": (change := _moved(a, b)),
        "browser": _ComparisonBrowser(comparison, a, b, change),
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


def _fault_columns(
    diagnoses: Sequence[Diagnosis], rows: Sequence[Sequence[Sequence[int]]]
) -> dict[str, Any]:
    """The columns of the list of samples about their faults: all classes, and the class of each row
    in each run.

    Args:
        diagnoses: of the runs; none where there are none.
        rows: for each run the samples that each row of the list stands for.
    """
    if not diagnoses:
        return {}
    return {
        "faults": [{"title": one.title, "says": one.says} for one in FAULTS],
        "faulty": [
            [_fault(found.classes, samples) for samples in of_run]
            for found, of_run in zip(diagnoses, rows, strict=True)
        ],
    }


def _fault(classes: Sequence[str | None], samples: Iterable[int]) -> int | None:
    """The number (in `FAULTS`) of the class of the first of the samples that fails."""
    return next((FAULT_NUMBERS[name] for at in samples if (name := classes[at])), None)


class _Browser:
    """The data of a page's query browser: chunks first, then the table that points to them."""

    def __init__(
        self,
        runs: Sequence[Result],
        queries: Collection[str] | None,
        diagnoses: Sequence[Diagnosis],
    ) -> None:
        self._runs, self._diagnoses, self._pool = runs, diagnoses, TextPool()
        budget = TEXT_BUDGET // len(runs)
        self._details = [Details(run, queries, budget, self._pool) for run in runs]

    def chunks(self) -> Iterator[tuple[str, str]]:
        """Element id and packed content of each chunk of samples and of texts."""
        for run, details in enumerate(self._details):
            for at, chunk in enumerate(details.chunks()):
                yield f"d{run}-{at}", chunk
                yield from self._pool.drain()
        yield from self._pool.drain(end=True)


class _RunBrowser(_Browser):
    """One row a sample of a run."""

    def __init__(self, result: Result, diagnosis: Diagnosis | None) -> None:
        super().__init__([result], None, [] if diagnosis is None else [diagnosis])
        self.n_total = len(result.columns)
        self.n_rows = min(self.n_total, MAX_ROWS)

    def table(self) -> str:
        """The rows as columns; call it after `chunks`."""
        (result,), (details,), n = self._runs, self._details, self.n_rows
        metrics = result.summary.metrics
        several = len({identity[1:] for identity in details.identities}) > 1
        return packed(
            {
                "kind": "run",
                "chunk": CHUNK,
                "pooled": self._pool.starts,
                "runs": [result.name],
                "metrics": [metric_entry(metric) for metric in metrics.values()],
                "id": details.ids,
                "tag": [tag(identity) if several else "" for identity in details.identities],
                "query": details.queries,
                "slices": _slices(result, range(n)),
                "values": [details.values[name] for name in metrics],
                "reasons": [details.reasons[name] for name in metrics],
                **_fault_columns(self._diagnoses, [[[at] for at in range(n)]]),
                "detail": [[[at]] for at in range(n)],
            }
        )


class _ComparisonBrowser(_Browser):
    """One row a query of two runs, its repeats averaged as in the comparison."""

    def __init__(self, comparison: Comparison, a: Result, b: Result, change: Moved | None) -> None:
        self._comparison = comparison
        self._rows = [rows_by_query(run) for run in (a, b)]
        common = [query for query in self._rows[0] if query in self._rows[1]]
        self._queries = common[:MAX_ROWS]
        self.n_total, self.n_rows = len(common), len(self._queries)
        diagnoses = () if change is None else (change.new, change.old)
        super().__init__((a, b), frozenset(self._queries), diagnoses)

    def table(self) -> str:
        """The rows as columns; call it after `chunks`."""
        differences = self._comparison.differences
        metrics = self._runs[0].summary.metrics
        a, b = (self._values(run) for run in (0, 1))
        texts = [dict(zip(d.ids, d.queries, strict=True)) for d in self._details]
        positions = [grouped((query, at) for at, query in enumerate(d.ids)) for d in self._details]
        first = [self._rows[0][query][0] for query in self._queries]
        return packed(
            {
                "kind": "comparison",
                "chunk": CHUNK,
                "pooled": self._pool.starts,
                "runs": [self._comparison.a, self._comparison.b],
                "metrics": [
                    metric_entry(metrics[d.name])
                    | {"diff": d.diff, "lowDiff": d.low, "highDiff": d.high}
                    for d in differences
                ],
                "id": self._queries,
                "tag": [""] * len(self._queries),
                "query": [texts[0].get(q) or texts[1].get(q, "") for q in self._queries],
                "slices": _slices(self._runs[0], first),
                "values": a,
                "other": b,
                **_fault_columns(
                    self._diagnoses,
                    [[rows[query] for query in self._queries] for rows in self._rows],
                ),
                "detail": [[of_run.get(q, []) for of_run in positions] for q in self._queries],
            }
        )

    def _values(self, run: int) -> list[list[float | None]]:
        names = [difference.name for difference in self._comparison.differences]
        values, scored = query_matrix(self._runs[run], names, self._rows[run], self._queries)
        return [
            [value if ok else None for value, ok in zip(*pair, strict=True)]
            for pair in zip(values.tolist(), scored.tolist(), strict=True)
        ]


def _slices(run: Result, rows: Iterable[int]) -> dict[str, list[str | None]]:
    """The values of these rows in each slicing column, whose name is spelled as in the page."""
    return {
        printable.escaped(name): [values[at] for at in rows]
        for name, values in run.columns.slices.items()
    }


def tag(identity: Identity) -> str:
    """The system and the repeat of a sample, in words."""
    _, system, repeat = identity
    return " · ".join(filter(None, (system, f"repeat {repeat}" if repeat else "")))


def metric_entry(metric: MetricSummary) -> dict[str, Any]:
    """A metric as the list of samples needs it."""
    low, high = metric.bounds
    return {
        "name": metric.name,
        "up": metric.higher_is_better,
        "low": low,
        "high": high,
        "labels": bool(metric.labels),
        "judged": bool(metric.judge),
    }


def _sorted_differences(comparison: Comparison, a: Result, b: Result) -> dict[str, Values]:
    """The difference A - B of each query that both runs scored, sorted, by metric."""
    names = [difference.name for difference in comparison.differences]
    differences = query_differences(a, b, names)
    return {name: np.sort(values) for name, values in zip(names, differences, strict=True)}


def _paired_slices(a: Result, b: Result) -> dict[str, list[tuple[Slice, Slice]]]:
    """Slices that both runs have, by column."""
    others = {(piece.column, piece.value): piece for piece in b.summary.slices}
    pairs = (
        (piece.column, (piece, others[piece.column, piece.value]))
        for pieces in grouping.by_column(a.summary.slices).values()
        for piece in pieces
        if (piece.column, piece.value) in others
    )
    return grouped(pairs)


def extents(
    comparison: Comparison, metrics: Mapping[str, MetricSummary] | None = None
) -> dict[str, float]:
    """Half the width of each metric's axis of differences; metrics of one range have the same.

    Args:
        comparison: of two runs.
        metrics: by name; where left out, those of the runs that the comparison holds, and where it
            holds none, each metric has an axis of its own.
    """
    if metrics is None:
        metrics = {} if comparison.runs is None else comparison.runs[0].summary.metrics
    reach: dict[object, float] = {}
    keys: dict[str, object] = {}
    differences = comparison.differences
    for d in differences:
        bounds = metrics[d.name].bounds if d.name in metrics else (None, None)
        key = keys[d.name] = d.name if None in bounds else bounds
        ends = [abs(x) for x in (d.diff, d.low, d.high, d.detectable) if x is not None]
        reach[key] = max([reach.get(key, 0.0), *ends])
    return {name: 1.08 * reach[key] or 1.0 for name, key in keys.items()}


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
        footnotes=footnotes,
        figures=figures,
        diagnosis_text=diagnosis_text,
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
