"""The scores of a TREC run for people (a table, sentences) and for programs (JSON)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragassay.base.counts import either, plural, share
from ragassay.compat.trec_eval.trec_evaluation import NO_Z_SCORE, TrecScores, Value
from ragassay.metrics.retrieval.trec_names import TrecMeasure
from ragassay.reports.model import Column, Report, lines, table

if TYPE_CHECKING:
    from ragassay.engine.results.comparison_result import Comparison


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
    n = len(scores.queries)
    if scores.complete:
        count = either(scores.n_missing, "counts", "count")
        over = "the one judged query" if n == 1 else f"all {n:,} judged queries"
        return f"mean over {over} ({scores.n_missing:,} not in the run {count} 0)"
    over = "one query" if n == 1 else f"{n:,} queries"
    return f"mean over the {over} in both files, of {scores.n_judged:,} judged"


def warnings(scores: TrecScores, run: str) -> list[str]:
    """What a reader of the scores must know: queries left out, values without a z-score. One
    sentence each."""
    sentences = []
    if scores.n_missing:
        one = scores.n_missing == 1
        rest = "is left out; with -c it counts 0" if one else "are left out; with -c they count 0"
        if scores.complete:
            rest = "counts 0" if one else "count 0"
        missing = share(scores.n_missing, scores.n_judged, "judged query")
        sentences.append(f"{run}: {missing} {'is' if one else 'are'} not in the run and {rest}.")
    if scores.n_unjudged:
        sentences.append(
            f"{run}: {plural(scores.n_unjudged, 'query')} of the run "
            f"{either(scores.n_unjudged, 'has no judgements and is', 'have no judgements and are')}"
            " left out."
        )
    if scores.n_without_scale:
        sentences.append(
            f"{run}: for {plural(scores.n_without_scale, 'value')} the z-score file has no mean "
            f"and deviation that fit; {either(scores.n_without_scale, 'it counts', 'they count')} "
            f"as {NO_Z_SCORE:.0f}, as in trec_eval."
        )
    return sentences


def as_json(
    scores: TrecScores, qrels: str, run: str, *, per_query: bool, summary: bool = True
) -> dict[str, Any]:
    """The scores of a run as plain values."""
    measures: dict[str, dict[str, Any]] = {
        scores.label(one): {"metric": None if one.metric is None else str(one.metric)}
        for one in scores.measures
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
