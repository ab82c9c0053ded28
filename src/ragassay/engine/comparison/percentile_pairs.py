"""How a percentile of two runs differs: with an interval, and without a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.base.note import Note
from ragassay.engine.comparison.pairs import MatchedRuns
from ragassay.engine.results.comparison_result import Difference
from ragassay.engine.results.result import Result
from ragassay.stats.paired import rounded_differences
from ragassay.stats.percentiles import percentile_difference

_BOUNDS = ("low", "high", "least", "most")
_NONE = (
    *("p_value", "significant", "p_adjusted", "significant_adjusted", "t_p_value", "cohens_d"),
    *("detectable", "a_mean", "b_mean", "diff"),
)
"""What a difference without a test and without common queries has no value of."""


def compare_percentile(
    matched: MatchedRuns,
    name: str,
    *,
    clusters: NDArray[np.int64] | None,
    n_resamples: int,
    seed: int,
    level: float,
) -> Difference:
    """The difference of a metric that is a percentile, over the queries that both runs scored.

    Every repeat of a query counts by itself: a percentile of means would hide what is rare."""
    metric = matched.a.summary.metrics[name]
    (means_a, in_a), (means_b, in_b) = matched.scores([name])
    both = in_a[0] & in_b[0]
    signs = np.sign(rounded_differences(means_a[:, both], means_b[:, both])[0])
    # Bootstrap units have the numbers from 0 on.
    units = np.arange(both.size) if clusters is None else clusters
    _, codes = np.unique(units[both], return_inverse=True)
    unit_of = dict(zip(np.flatnonzero(both).tolist(), codes.tolist(), strict=True))
    values: dict[str, Any] = dict.fromkeys((*_BOUNDS, *_NONE))
    if both.any():
        a, b = (_scores(matched, run, name, unit_of) for run in (matched.a, matched.b))
        assert metric.percentile is not None
        difference = percentile_difference(
            a[0], b[0], metric.percentile, units_a=a[1], units_b=b[1],
            level=level, n_resamples=n_resamples, seed=seed,
        )  # fmt: skip
        values |= {"a_mean": difference.a, "b_mean": difference.b}
        values |= {"diff": difference.a - difference.b}
        values |= {bound: getattr(difference, bound) for bound in _BOUNDS}
    return Difference(
        name=name,
        **values,
        n=int(both.sum()),
        wins=int((signs == 1).sum()),
        losses=int((signs == -1).sum()),
        ties=int((signs == 0).sum()),
        higher_is_better=metric.higher_is_better,
        level=level,
        safe_least=values["least"],
        safe_most=values["most"],
        standing="exploratory",
        why=Note("percentile", {}, (name,)),
    )


def _scores(
    matched: MatchedRuns, run: Result, name: str, unit_of: Mapping[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The scores of a run, and the unit of each."""
    scored, rows = run.columns.scored(name), matched.rows_of(run)
    units = {
        row: unit for at, unit in unit_of.items() for row in rows[matched.queries[at]]
        if scored[row]
    }  # fmt: skip
    return run.columns.values(name)[list(units)], np.array(list(units.values()))
