"""The comparison of two aligned score matrices: tests, intervals and what they allow to say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragassay.base.note import Note
from ragassay.engine.comparison.comparison_notes import with_notes
from ragassay.engine.comparison.pairs import Mask, Matrix
from ragassay.engine.results.comparison_result import Comparison, Difference, Standing
from ragassay.stats.intervals import Span, alpha_of
from ragassay.stats.paired import compare_pairs

RAW_ALPHA = 0.05
"""Level of ``significant``, which UltraRAG fixes."""

_TESTED = (
    *("a_mean", "b_mean", "diff", "low", "high", "p_value", "p_adjusted", "t_p_value", "cohens_d"),
    *("n", "n_differ", "wins", "losses", "ties", "least", "most", "safe_least", "safe_most"),
    *("too_few", "doubt", "halves", "detectable"),
)
"""What a `Difference` has of its test."""


def compare_arrays(
    names: Sequence[str],
    a: Matrix,
    b: Matrix,
    *,
    mask: Mask | None = None,
    clusters: NDArray[np.int64] | None = None,
    a_name: str = "A",
    b_name: str = "B",
    higher_is_better: Sequence[bool | None] | None = None,
    spans: Sequence[Span] | None = None,
    standings: Sequence[tuple[Standing, Note | None]] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "maxt",
    warnings: Sequence[str] = (),
    clustered_by: str | None = None,
) -> Comparison:
    """The comparison of two aligned score matrices, shape ``(n_metrics, n_queries)``.

    Args:
        names: of the metrics.
        a, b: scores of the new and the old run.
        mask: where both runs have a score; everywhere when left out.
        clusters: number of each query's cluster, shape ``(n_queries,)``; each query is one when
            left out.
        a_name, b_name: names of the runs.
        higher_is_better: for each metric; ``None`` where neither direction is better.
        spans: lowest and highest value of each metric.
        standings: what may be concluded from each metric, and why; all are tested when left out.
        n_resamples, seed, level, correction: see `compare`.
        warnings: sentences for the reader.
        clustered_by: name of the clusters.
    """
    directions = higher_is_better or [True] * len(names)
    ranges = spans or [(None, None)] * len(names)
    roles: Sequence[tuple[Standing, Note | None]] = standings or [("tested", None)] * len(names)
    tests = compare_pairs(
        a,
        b,
        mask=mask,
        clusters=clusters,
        spans=ranges,
        tested=[standing == "tested" for standing, _ in roles],
        correction=correction,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
    )
    alpha = alpha_of(level)
    differences = tuple(
        Difference(
            name=name,
            **{key: getattr(test, key) for key in _TESTED},
            significant=None if test.p_value is None else test.p_value < RAW_ALPHA,
            significant_adjusted=None if test.p_adjusted is None else test.p_adjusted <= alpha,
            higher_is_better=direction,
            level=test.level_used,
            standing=standing,
            why=why,
        )
        for name, test, direction, (standing, why) in zip(
            names, tests, directions, roles, strict=True
        )
    )
    comparison = Comparison(
        a=a_name,
        b=b_name,
        differences=differences,
        n_common=a.shape[1],
        only_a=0,
        only_b=0,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        correction=correction,
        n_tested=sum(test.p_adjusted is not None for test in tests),
        warnings=tuple(warnings),
        clustered_by=None if clusters is None else clustered_by,
        n_clusters=None if clusters is None else len(np.unique(clusters)),
    )
    return with_notes(comparison)
