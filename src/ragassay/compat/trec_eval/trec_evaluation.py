"""A run evaluated the way trec_eval does it, with its rules for which queries count; its scores for
people (a table, sentences), for programs (JSON), and as UltraRAG's server writes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.printable import plural, share
from ragassay.engine.comparison.differences import compare_arrays
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.run.ranked_runs import JudgedRun, aggregate
from ragassay.formats.trec.trec_files import Moments
from ragassay.metrics.retrieval.preferences import GroupedRankings, PreferenceMeasure, Preferences
from ragassay.metrics.retrieval.ranking_metric import RelevanceString
from ragassay.metrics.retrieval.rankings import Floats, Mask, Rankings
from ragassay.metrics.retrieval.trec_names import TrecMeasure
from ragassay.reports.model import Column, Report, lines, table

Value = float | int | str
NO_Z_SCORE = -1_000_000.0
"""What trec_eval writes for a value whose mean and deviation are not known."""


@dataclass(frozen=True)
class TrecScores:
    """The values of some measures for one run: for each a column with a value a query. ``complete``
    averages over the ``n_missing`` judged queries that the run lacks, too; its ``n_unjudged``
    queries without judgements are left out; ``n_without_scale`` z-scores are `NO_Z_SCORE`."""

    tag: str
    measures: tuple[TrecMeasure, ...]
    queries: tuple[str, ...]
    n_judged: int
    n_missing: int
    n_unjudged: int
    complete: bool
    columns: tuple[Sequence[Value], ...]
    standardised: bool = False
    n_without_scale: int = 0

    def per_query(self) -> Iterator[tuple[TrecMeasure, str, Value]]:
        """Each query's values, query by query."""
        for at, query in enumerate(self.queries):
            for measure, column in zip(self.measures, self.columns, strict=True):
                if measure.per_query:
                    yield measure, query, column[at]

    def summary(self) -> Iterator[tuple[TrecMeasure, Value]]:
        """The values over all queries."""
        for measure, column in zip(self.measures, self.columns, strict=True):
            if measure.metric is None:
                yield measure, self.tag
            elif measure.summary:
                total = aggregate(measure.metric, np.asarray(column, np.float64))
                counted = measure.metric.aggregate == "sum" and not self.standardised
                yield measure, int(total) if counted else total

    def label(self, measure: TrecMeasure) -> str:
        """What trec_eval prints: the measure's label, with ``Z`` before it for a z-score."""
        return f"Z{measure.label}" if self.standardised and _is_number(measure) else measure.label

    def lines(self, *, per_query: bool = False, summary: bool = True) -> Iterator[str]:
        """Yields trec_eval's lines: measure, query or ``all``, and value, separated by tabs."""
        for measure, query, value in self.per_query() if per_query else ():
            yield self._line(measure, query, value)
        for measure, value in self.summary() if summary else ():
            yield self._line(measure, "all", value)

    def _line(self, measure: TrecMeasure, query: str, value: Value) -> str:
        if isinstance(value, float):
            shown = f"{value:6.4f}"
        elif isinstance(measure.metric, RelevanceString):
            shown = f"'{value}'"
        else:
            shown = str(value)
        label = self.label(measure)
        return f"{label:<{22 + len(label) - len(measure.label)}}\t{query}\t{shown}"


def score(
    judged: JudgedRun,
    tag: str,
    measures: Sequence[TrecMeasure],
    *,
    complete: bool = False,
    depth: int | None = None,
    judged_only: bool = False,
    scales: Mapping[tuple[str, str], Moments] | None = None,
    query: str | None = None,
) -> TrecScores:
    """Evaluates a run, with trec_eval's flags ``-c`` (``complete``: a missing query has the values
    of a ranking without documents), ``-M`` (``depth``), ``-J`` (``judged_only``), ``-Z``
    (``scales``, by query and measure) and ``-D`` (``query``)."""
    if query is not None:
        judged = judged.only(np.array(judged.queries) == query)
    missing = ~judged.in_run
    n_judged, n_missing = len(judged), int(missing.sum())
    counted = np.ones(n_judged, np.bool_) if complete else ~missing
    if query is not None and not counted.any():
        raise UsageError(f"Query {query!r} is not among the queries to evaluate.")
    if depth is not None:
        judged = judged.limited(depth)
    if judged_only:
        judged = judged.judged_only()
    judged, missing = judged.only(counted), missing[counted]
    scores = TrecScores(
        tag,
        tuple(measures),
        judged.queries,
        n_judged,
        n_missing,
        judged.n_unjudged_queries,
        complete,
        tuple(_column(measure, judged, missing) for measure in measures),
    )
    return scores if scales is None else _standardised(scores, scales)


def compared(
    scores: Sequence[TrecScores], names: Sequence[str], *, only: Mask | None = None, **test: Any
) -> list[Comparison]:
    """Each run against the last one, over the same queries (``complete``), of which ``only`` some
    may count; ``test`` are options of `compare_arrays`."""
    chosen = slice(None) if only is None else only
    matrices = [np.array(trec_scores.columns, np.float64)[:, chosen] for trec_scores in scores]
    metrics = [measure.metric for measure in scores[0].measures if measure.metric is not None]
    return [
        compare_arrays(
            [measure.label for measure in scores[0].measures],
            matrix,
            matrices[-1],
            a=name,
            b=names[-1],
            higher_is_better=[metric.higher_is_better for metric in metrics],
            spans=[(metric.low, metric.high) for metric in metrics],
            **test,
        )
        for name, matrix in zip(names[:-1], matrices[:-1], strict=True)
    ]


def _column(measure: TrecMeasure, judged: JudgedRun, missing: Mask) -> Sequence[Value]:
    metric = measure.metric
    if metric is None:
        return [""] * len(judged)
    if isinstance(metric, RelevanceString) and isinstance(judged, Rankings):
        return metric.strings(judged)
    values: Floats
    if metric.name == "NumQ":
        values = np.ones(len(judged))
    elif isinstance(metric, PreferenceMeasure):
        assert isinstance(judged, Preferences)
        values = metric.values(judged)
    elif isinstance(judged, GroupedRankings):
        values = judged.values(metric)
    else:
        assert isinstance(judged, Rankings)
        values = metric.values(judged)
    if metric.name in ("Utility", "RBPResid"):
        values = np.where(missing, 0.0, values)
    numbers: list[float] = values.tolist()
    return [int(value) for value in numbers] if metric.aggregate == "sum" else numbers


def _standardised(raw: TrecScores, scales: Mapping[tuple[str, str], Moments]) -> TrecScores:
    """The same scores as z-scores: deviations from a mean in standard deviations."""
    columns: list[Sequence[Value]] = []
    n_without = 0
    for measure, column in zip(raw.measures, raw.columns, strict=True):
        if not _is_number(measure) or getattr(measure.metric, "name", "") == "NumQ":
            columns.append(column)
            continue
        values = [
            _z_score(float(value), scales.get((query, measure.label)))
            for query, value in zip(raw.queries, column, strict=True)
        ]
        n_without += values.count(NO_Z_SCORE) if measure.per_query else 0
        columns.append(values)
    return dataclasses.replace(
        raw, columns=tuple(columns), standardised=True, n_without_scale=n_without
    )


def _z_score(value: float, scale: Moments | None) -> float:
    if scale is None:
        return NO_Z_SCORE
    if scale.deviation:
        return (value - scale.mean) / scale.deviation
    return 0.0 if value == scale.mean else NO_Z_SCORE


def _is_number(measure: TrecMeasure) -> bool:
    return measure.metric is not None and not isinstance(measure.metric, RelevanceString)


def trec_report(scores: TrecScores, run: str, *, per_query: bool, summary: bool = True) -> Report:
    """A row for each measure (and query), with the metric that it is."""
    shown: list[tuple[TrecMeasure, str, Value]] = []
    if per_query:
        shown += scores.per_query()
    if summary:
        shown += [(measure, "all", value) for measure, value in scores.summary()]
    rows = []
    for measure, query, value in shown:
        metric = "" if measure.metric is None else str(measure.metric)
        metric = "" if metric == measure.label else metric
        number = f"{value:.4f}" if isinstance(value, float) else f"{value}"
        rows.append((scores.label(measure), metric, query, number))
    columns = [
        *(Column("measure", "name"), Column("metric", "label", style="dim")),
        *(Column("query", "label"), Column("value")),
    ]
    over = lines([f"{run}: {averaged_over(scores)}"], "text")
    return Report("", (over, table(columns, rows)))


def averaged_over(scores: TrecScores) -> str:
    """Which queries the means run over."""
    if scores.complete:
        n = plural(len(scores.queries), "judged query")
        return f"mean over {n} ({scores.n_missing:,} not in the run counted 0)"
    n = plural(len(scores.queries), "query")
    return f"mean over {n} in both files, of {scores.n_judged:,} judged"


def warnings(scores: TrecScores, run: str) -> list[str]:
    """What a reader of the scores must know: queries left out, values without a z-score."""
    sentences = []
    if scores.n_missing:
        rest = "counted 0" if scores.complete else "left out; -c counts them 0"
        missing = share(scores.n_missing, scores.n_judged, "judged query")
        sentences.append(f"{run}: {missing} not in the run: {rest}.")
    if scores.n_unjudged:
        unjudged = plural(scores.n_unjudged, "query")
        sentences.append(f"{run}: {unjudged} of the run without judgements: left out.")
    if scores.n_without_scale:
        values = plural(scores.n_without_scale, "value")
        sentences.append(
            f"{run}: {values} without a mean and deviation in the z-score file: counted as "
            f"{NO_Z_SCORE:.0f}, as in trec_eval."
        )
    return sentences


def as_json(
    scores: TrecScores, qrels: str, run: str, *, per_query: bool, summary: bool = True
) -> dict[str, Any]:
    """The scores of a run as plain values."""
    measures: dict[str, dict[str, Any]] = {
        scores.label(trec_measure): {
            "metric": None if trec_measure.metric is None else str(trec_measure.metric)
        }
        for trec_measure in scores.measures
    }
    for measure, value in scores.summary() if summary else ():
        measures[scores.label(measure)]["all"] = value
    if per_query:
        for measure, query, value in scores.per_query():
            measures[scores.label(measure)].setdefault("queries", {})[query] = value
    about = {"qrels": qrels, "run": run, "tag": scores.tag}
    return {**about, **coverage(scores), "measures": measures}


def coverage(scores: TrecScores) -> dict[str, Any]:
    """Which queries count, as plain values."""
    return {
        "averaged_over": "judged queries" if scores.complete else "queries in both files",
        "n_queries": len(scores.queries),
        "n_judged": scores.n_judged,
        "n_missing": scores.n_missing,
        "n_unjudged": scores.n_unjudged,
    }


def ultrarag_summary(scores: TrecScores) -> dict[str, Any]:
    """What UltraRAG's server writes of one run."""
    return {_ultrarag_key(measure.label): value for measure, value in scores.summary()}


def ultrarag_comparison(comparison: Comparison) -> dict[str, Any]:
    """What UltraRAG's server writes of two runs; nothing is corrected for the number of tests."""
    return {
        _ultrarag_key(d.name): {
            "A_mean": d.a_mean,
            "B_mean": d.b_mean,
            "diff": d.diff,
            "p_value": d.p_value,
            "significant": d.significant,
        }
        for d in comparison.differences
    }


def _ultrarag_key(label: str) -> str:
    """What UltraRAG's file calls a measure: ``P@5`` for ``precision@5``."""
    name, at, k = label.partition("@")
    return f"P@{k}" if at and name.casefold() == "precision" else label.casefold()
