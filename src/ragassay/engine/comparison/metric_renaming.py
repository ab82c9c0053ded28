"""Renames the metrics of a run as the run that it is compared with shows them.

Suites show a metric under the name that they publish it by (``RL_F``), and a metric asked for by
itself has its own (``rl_f``). Both are the same metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ragassay.engine.results import MetricSummary, Result, ScoreRow


def aligned(run: Result, like: Result) -> Result:
    """The run with each metric under the name that ``like`` shows it by.

    Metrics that have the same display name stay as they are. Of the others, those that are the same
    metric with the same parameters are matched, where only one match is possible.

    Args:
        run: to be renamed.
        like: the run whose names it gets.

    Returns:
        The run itself where no name changes.
    """
    theirs = _by_canonical(like, run)
    ours = _by_canonical(run, like)
    names = {ours[canonical]: theirs[canonical] for canonical in ours if canonical in theirs}
    if not names:
        return run

    def rows() -> Iterator[ScoreRow]:
        return (replace(row, metric=names.get(row.metric, row.metric)) for row in run.scores)

    summary = replace(
        run.summary,
        metrics=_renamed(run.summary.metrics, names),
        slices=tuple(
            replace(piece, metrics=_renamed(piece.metrics, names)) for piece in run.summary.slices
        ),
    )
    return replace(run, summary=summary, columns=run.columns.renamed(names), _rows=rows)


def _by_canonical(run: Result, other: Result) -> dict[str, str]:
    """Display names, by the metric's own name, of the metrics that the other run does not show
    under the same name. Metrics that a run has twice are left out.
    """
    canonical_names = {
        name: metric.metric
        for name, metric in run.summary.metrics.items()
        if name not in other.summary.metrics and metric.metric
    }
    counts = Counter(canonical_names.values())
    return {
        canonical: name for name, canonical in canonical_names.items() if counts[canonical] == 1
    }


def _renamed(
    metrics: Mapping[str, MetricSummary], names: Mapping[str, str]
) -> dict[str, MetricSummary]:
    return {
        names.get(name, name): replace(metric, name=names.get(name, name))
        for name, metric in metrics.items()
    }
