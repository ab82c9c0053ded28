"""What a comparison of two runs found, metric by metric, and what a gate found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import extra_needed
from ragassay.base.note import Displayed, Note, Severity, drawing, joined
from ragassay.engine.results.verdict import HINT, Difference
from ragassay.stats.intervals import is_close
from ragassay.stats.paired import FEW_DIFFER
from ragassay.stats.sign_flip import EXACT_UP_TO

if TYPE_CHECKING:
    import pandas
    import polars

    from ragassay.engine.diagnosis.moved_classes import Moved
    from ragassay.engine.results.result import Result
    from ragassay.reports.charts.svg import Chart

ENOUGH = 70
"""Queries that show a difference of a tenth of the scale with a power of .8, where differences
spread by .3 of it: published systems on MT-RAG spread by .13 to .45, by metric."""

_MOST_DIGITS = 15
"""Decimal places of a number at most."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found.

    ``value`` is the mean or the one-sided bound that the gate asks about. ``passed`` is ``None``
    when it cannot be decided, and ``why`` says why not; ``unscored`` counts scores that should be
    there and are missing. ``which`` is ``mean``, or the bound (``low``, ``high``) at the confidence
    level ``level``. ``low`` and ``high`` are the ends between which the gate was decided, with the
    worst and the best values for missing scores. Of a gate on a drop, ``drop`` is the observed one,
    above 0 for the worse, and ``limit`` the largest that is allowed. ``metrics`` are those that the
    gate speaks of, ``threshold`` is what the mean, bound or difference is compared with."""

    gate: str
    value: float | None
    passed: bool | None
    unscored: int = 0
    why: str = ""
    which: str = "mean"
    level: float = 0.95
    low: float | None = None
    high: float | None = None
    drop: float | None = None
    limit: float | None = None
    metrics: tuple[str, ...] = ()
    threshold: float | None = None

    @property
    def sentence(self) -> str:
        """One line for the terminal."""
        state = {True: "passed", False: "FAILED", None: "undecided"}[self.passed]
        facts, of, ends = [], "", ""
        low, high = self.low, self.high
        if self.limit is not None and self.which == "low":  # a fall of the metric is the drop
            low, high = (None if end is None else 0.0 - end for end in (high, low))
        if low is not None and high is not None:
            ends = f"{self.rounded(low)} and {self.rounded(high)}"
        if self.limit is not None:
            of = " of the drop"
            if self.drop is not None and self.drop <= 0.0:
                facts.append(f"a gain of {-self.drop:.4f}" if self.drop else "no drop")
            elif self.drop is not None:
                facts.append(f"a drop of {self.rounded(self.drop)}")
        if self.which == "mean" and self.value is not None:
            between = f", between {ends} with the missing scores" if ends else ""
            facts.append(f"mean {self.rounded(self.value)}{between}")
        elif ends:
            assumed = " with the worst and the best values for missing scores"
            bounds = f"one-sided {100 * self.level:.4g} % bounds{of} {ends}"
            facts.append(f"{bounds}{assumed if self.unscored else ''}")
        said = "; ".join([*facts, *filter(None, [self.why])])
        return f"gate {self.gate}: {', '.join(filter(None, (state, said)))}"

    def rounded(self, value: float) -> str:
        """A value with four digits, or with as many as show on which side of the gate's threshold
        it lies: 0.69996 is not 0.7."""
        # A drop of 0.02 is a change by -0.02.
        threshold = value if self.threshold is None else math.copysign(self.threshold, value)
        digits = 4
        if not is_close(value, threshold):
            while digits < _MOST_DIGITS and f"{value:.{digits}f}" == f"{threshold:.{digits}f}":
                digits += 1
        return f"{value:.{digits}f}"


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Displayed):
    """Two runs on the same queries.

    ``only_a`` and ``only_b`` count queries that the other run lacks; they are not compared.
    ``clustered_by`` names what is tested together (a conversation), and ``n_clusters`` says how
    many there are; both are ``None`` if queries are independent.
    ``judged_by`` names the judge of both runs, or both judges; empty where nobody was asked.
    ``metrics_only_a`` and ``metrics_only_b`` are metrics that the other run lacks, where none were
    asked for by name. ``n_tested`` metrics were tested together, at the level ``1 - level``.
    ``unpaired`` says that the means of different queries were compared; none are in common then;
    ``trust_offline`` that the offline judge decides, whatever its agreement with people.
    ``brought`` are facts that the numbers do not give. ``primary`` are the metrics to test, where
    they are not all: those that were named, or the headline of the suite. ``gates`` is what was
    found of the largest drops allowed. ``runs`` are both results, for plots, ``change`` what moved
    among their failing samples, where that was computed."""

    a: str
    b: str
    differences: tuple[Difference, ...]
    n_common: int
    only_a: int
    only_b: int
    n_resamples: int
    seed: int
    level: float
    correction: str
    n_tested: int
    brought: tuple[Note, ...] = ()
    clustered_by: str | None = None
    n_clusters: int | None = None
    judged_by: str = ""
    metrics_only_a: tuple[str, ...] = ()
    metrics_only_b: tuple[str, ...] = ()
    primary: tuple[str, ...] = ()
    gates: tuple[GateResult, ...] = ()
    unpaired: bool = False
    trust_offline: bool = False
    runs: tuple[Result, Result] | None = field(default=None, compare=False)
    change: Moved | None = field(default=None, compare=False)

    @property
    def with_scores(self) -> tuple[Difference, ...]:
        """The metrics with at least one query that both runs scored: the rows of a table."""
        return tuple(d for d in self.differences if d.a_mean is not None or d.b_mean is not None)

    @property
    def findings(self) -> tuple[Difference, ...]:
        """The differences of the metrics, and of right answers where they were looked at."""
        right = None if self.change is None else self.change.right
        return self.differences if right is None else (right, *self.differences)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The facts beside the numbers: doubts, what is needed to read the verdicts, the method."""
        standing = joined(d.why for d in self.findings if d.why is not None and d.n)
        return (*self.brought, *_doubts(self), *standing, *_beside(self), *_method(self))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences of the notes that are warnings."""
        return tuple(str(note) for note in self.notes if note.severity == "warning")

    @property
    def decidable(self) -> bool:
        """Whether any metric is scored in both runs for a common query."""
        return any(d.n for d in self.differences)

    def plot(self) -> Chart:
        """A picture of the differences with their intervals, and of those of each query; a notebook
        shows it, and ``save`` writes it to a file.

        Raises:
            UsageError: the comparison does not hold its runs.
        """
        chart: Chart = drawing().plot_of(self)
        return chart

    def to_polars(self) -> polars.DataFrame:
        """A row per metric, with its means, difference and verdict."""
        import polars

        rows = [
            {"metric": d.name, "new": d.a_mean, "old": d.b_mean, "difference": d.diff}
            | {name: getattr(d, name) for name in _IN_FRAMES}
            | {
                "verdict": (HINT if d.hint else "no difference shown")
                if d.verdict == "indicative"
                else d.verdict
            }
            for d in self.differences
        ]
        return polars.DataFrame(rows, infer_schema_length=None)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a pandas frame (needs pandas: ``pip install ragassay[pandas]``)."""
        return as_pandas(self.to_polars())

    def save(self, path: str | Path, title: str | None = None) -> None:
        """Writes what ``ragassay compare -o`` writes: ``.html``, ``.md`` (with a title), ``.json``,
        ``.svg`` or ``.png``, by the path's ending."""
        drawing().write_comparison(self, Path(path), title)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values; with UltraRAG's field names beside ours."""
        body = asdict(replace(self, runs=None, change=None))
        del body["runs"], body["brought"], body["change"]
        body["warnings"] = list(self.warnings)
        body["notes"] = [{**asdict(note), "text": str(note)} for note in self.notes]
        body["differences"] = [d.to_json() for d in self.differences]
        right = None if self.change is None else self.change.right
        body["right"] = None if right is None else right.to_json()
        return body


_IN_FRAMES = ("low", "high", "p_value", "p_adjusted", "n", "verdict", "hint")


def as_pandas(frame: polars.DataFrame) -> pandas.DataFrame:
    """A frame of polars as one of pandas; true and false beside missing values are ``boolean``."""
    with extra_needed("pandas is not installed", "pandas"):
        import pandas
    kinds = {s.name: "boolean" for s in frame if str(s.dtype) == "Boolean" and s.null_count()}
    return pandas.DataFrame(frame.to_dict(as_series=False)).astype(kinds)


def _doubts(comparison: Comparison) -> Iterator[Note]:
    """Findings whose test rests on an assumption that is doubtful here."""
    unit = "queries" if comparison.n_clusters is None else "clusters"
    kinds = {"few differ": "few_differ", "skewed": "skewed_differences", "left out": "left_out"}
    for doubt, kind in kinds.items():
        names = _names([d for d in comparison.findings if d.doubtful and d.doubt == doubt])
        if names:
            yield Note(kind, {"most": FEW_DIFFER, "unit": unit}, names, "warning")


def _beside(comparison: Comparison) -> Iterator[Note]:
    """What a reader needs to read the verdicts."""
    if comparison.unpaired:
        counts = {"new": comparison.only_a, "old": comparison.only_b}
        yield Note("unpaired", counts, severity="warning")
    shown = comparison.with_scores
    judged = [d for d in shown if d.standing in ("tested", "indicative")]
    if too_few := [d for d in judged if d.too_few]:
        kind = "too_few" if len(too_few) == len(judged) else "too_few_for"
        severity: Severity = "headline" if kind == "too_few" else "note"
        n = max(d.n for d in too_few)
        yield Note(kind, {"n": n, "enough": ENOUGH}, _names(too_few), severity)
    unshown = [d for d in shown if d.verdict == "no difference shown" and not d.too_few]
    found = [d for d in shown if d.verdict in ("better", "worse", "different")]
    known = [d for d in unshown if d.detectable is not None]
    sizes = sorted(abs(d.detectable or 0.0) for d in known)
    if unshown and not found and sizes:
        kind = "would_find" if sizes[0] < sizes[-1] else "would_find_one"
        yield Note(kind, {"least": sizes[0], "most": sizes[-1]}, _names(known))
    empty = [d for d in comparison.differences if d not in shown]
    if empty:
        yield Note("without_common_scores", names=_names(empty))
    exploratory = [
        d for d in shown
        if d.standing == "exploratory" and (d.why is None or d.why.kind != "percentile")
    ]  # fmt: skip
    if exploratory and comparison.primary:
        yield Note("exploratory", names=_names(exploratory), severity="detail")


def _method(comparison: Comparison) -> Iterator[Note]:
    """How the numbers were made."""
    counts: dict[str, float | str] = {
        "common": comparison.n_common, "patterns": comparison.n_resamples, "seed": comparison.seed,
        "exact": EXACT_UP_TO, "level": comparison.level, "alpha": round(1 - comparison.level, 12),
    }  # fmt: skip
    if comparison.unpaired:
        yield Note("welch_test", counts, severity="detail")
    else:
        yield Note("compared_means", counts, severity="detail")
        yield Note("sign_flip_test", counts, severity="detail")
    counts["n"] = comparison.n_tested
    kind = comparison.correction if comparison.n_tested > 1 else "none"
    yield Note(f"correction_{kind}", counts, severity="detail")
    if comparison.n_clusters is not None:
        by = comparison.clustered_by or "cluster"
        yield Note("clustered", {"n": comparison.n_clusters, "by": by}, severity="detail")
    if comparison.judged_by:
        yield Note("judged_by", {"judge": comparison.judged_by}, severity="detail")
    for run in ("a", "b"):
        if names := getattr(comparison, f"metrics_only_{run}"):
            what = f"metrics_only_in_{run}"
            yield Note(what, names=names, severity="warning" if run == "b" else "detail")


def _names(differences: Sequence[Difference]) -> tuple[str, ...]:
    return tuple(d.name for d in differences)
