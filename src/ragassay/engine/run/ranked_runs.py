"""Retrieval evaluation as a plain function: qrels and a run in, arrays out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ragassay.base.errors import InputError, UsageError
from ragassay.engine.results.summary import GEOMETRIC_FLOOR
from ragassay.formats.trec import trec_files
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.retrieval import preferences, ranking_sources
from ragassay.metrics.retrieval.preferences import GroupedRankings, PreferenceMeasure, Preferences
from ragassay.metrics.retrieval.ranking_metric import RankingMetric
from ragassay.metrics.retrieval.rankings import Floats, Rankings
from ragassay.metrics.retrieval.trec_names import Judgements

if TYPE_CHECKING:
    import polars as pl

DEFAULT_METRICS = ("AP", "RR", "nDCG@10", "P@10", "Recall@100")

Qrels = Mapping[str, Mapping[str, int]] | tuple[Sequence[Any], ...] | str | Path
Run = Mapping[str, Mapping[str, float]] | tuple[Sequence[Any], ...] | str | Path

JudgedRun = Rankings | GroupedRankings | Preferences
"""A run with its judgements, of whichever kind."""


@dataclass(frozen=True)
class RunScores:
    """A run's scores of all judged queries, sorted by code points: by the name that a metric was
    asked by, its value of each query, shape ``(n_queries,)``, and its mean over all (a sum for
    counts, a geometric mean for GMAP)."""

    queries: tuple[str, ...]
    values: Mapping[str, Floats]
    means: Mapping[str, float]


def evaluate_run(
    qrels: Qrels | pl.DataFrame,
    run: Run | pl.DataFrame,
    metrics: str | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    ks: Sequence[int] | None = None,
) -> RunScores:
    """Evaluates a run against qrels, over all judged queries.

    A judged query that the run lacks scores 0; a query that was never judged is left
    out. Documents are ranked by score, then id, both descending.

    Args:
        qrels: ``{query: {document: grade}}``, a polars frame with the columns ``query``,
            ``document`` and ``grade``, three such columns in a tuple, or a TREC or BEIR file.
        run: the same with scores (``score``), or a TREC run file.
        metrics: names such as ``nDCG@10``, or metric objects.
        ks: cut-offs of ``recall``, ``ndcg`` and ``precision``, and of metrics named without one.

    Raises:
        UsageError: an unknown metric, one that does not work on rankings, or qrels and run of
            different kinds.
        InputError: see `ragassay.metrics.retrieval.ranking_sources` and `read_judged`.

    Examples:
        >>> from ragassay import evaluate_run
        >>> scores = evaluate_run({"q": {"a": 1}}, {"q": {"a": 0.3, "b": 0.7}}, "RR,P@1")
        >>> scores.means
        {'RR': 0.5, 'P@1': 0.0}
    """
    chosen = _metrics(metrics, ks)
    rankings = _rankings(qrels, run)
    values = {name: metric.values(rankings) for name, metric in chosen.items()}
    means = {name: aggregate(metric, values[name]) for name, metric in chosen.items()}
    return RunScores(rankings.queries, values, means)


def read_judged(path: Path, run: Path, judgements: Judgements = "qrels") -> tuple[JudgedRun, str]:
    """Reads a TREC run and its judgements of any kind."""
    trec_run = trec_files.read_run(run)
    try:
        if judgements == "qrels":
            qrels = trec_files.read_qrels(path)
            return ranking_sources.from_frames(qrels, trec_run.frame), trec_run.tag
        if judgements == "qrels_jg":
            grouped = trec_files.read_distinct(path, trec_files.GROUPED)
            return preferences.grouped_from_frames(grouped, trec_run.frame), trec_run.tag
        layout = trec_files.LEVELS if judgements == "qrels_prefs" else trec_files.PREFERENCES
        levels = trec_files.read_distinct(path, layout)
        return preferences.from_frames(levels, trec_run.frame), trec_run.tag
    except ranking_sources.RepeatedDocumentError as error:
        in_run = error.where == "run"
        place = run if in_run else path
        raise trec_files.repeated(place, error.query, error.document, run=in_run) from None
    except InputError as error:
        raise error.at(path=run) from None


def aggregate(metric: Metric | PreferenceMeasure, values: Floats) -> float:
    """One number for all queries: the mean, the sum or the geometric mean.

    Values are added one after the other, as trec_eval does: numpy's own sum adds in pairs, which
    may change the last digit shown."""
    if metric.aggregate == "geometric":
        logs = np.log(np.maximum(values, GEOMETRIC_FLOOR))
        return float(np.exp(_sum_in_order(logs) / len(values)))
    total = _sum_in_order(values)
    return total if metric.aggregate == "sum" else total / len(values)


def _sum_in_order(values: Floats) -> float:
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _metrics(
    names: str | Iterable[str | Metric], ks: Sequence[int] | None
) -> dict[str, RankingMetric]:
    chosen: dict[RankingMetric, str] = {}
    for item in [names] if isinstance(names, str) else names:
        by_name = (
            {str(item): item} if isinstance(item, Metric) else naming.metrics_by_name(item, ks=ks)
        )
        for name, metric in by_name.items():
            if not isinstance(metric, RankingMetric):
                raise UsageError(f"{metric} is not a measure of a ranking with qrels.")
            chosen.setdefault(metric, name)
    if not chosen:
        raise UsageError("No measure is named.")
    return {name: metric for metric, name in chosen.items()}


def _rankings(qrels: Any, run: Any) -> Rankings:
    if isinstance(qrels, str | Path) and isinstance(run, str | Path):
        return cast(Rankings, read_judged(Path(qrels), Path(run))[0])
    if isinstance(qrels, Mapping) and isinstance(run, Mapping):
        return ranking_sources.from_mappings(qrels, run)
    if isinstance(qrels, tuple) and isinstance(run, tuple):
        return ranking_sources.from_arrays(qrels, run)
    if hasattr(qrels, "lazy") and hasattr(run, "lazy"):
        return ranking_sources.from_frames(qrels, run)
    raise UsageError(
        "Give qrels and run alike: both dicts of dicts, both polars frames, both tuples of three "
        "columns, or both files."
    )
