"""The slices of the data in which the new run fell although it did not fall over all queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragassay.base.note import Note
from ragassay.engine.comparison.pairs import Mask, MatchedRuns
from ragassay.engine.results.comparison_result import Difference
from ragassay.engine.results.score_columns import labels_of
from ragassay.stats.paired import compare_pairs

LEAST = 5
"""Queries of a slice that is looked at."""

FALL = 0.25
"""Share of a metric's scale by which it has to fall in a slice, and more than over all queries."""

CHANCE = 0.1
"""The p-value of a fall, without any correction, from which it may be chance."""


def fallen_slice(
    matched: MatchedRuns, differences: Sequence[Difference], draws: Mapping[str, Any]
) -> list[Note]:
    """The slice and the metric that fell the most against what the metric did over all queries,
    times the queries of the slice; only of metrics that are not worse as a whole. It is a hint: of
    all slices and metrics, the worst is taken."""
    signs = {
        d.name: -1.0 if d.higher_is_better is False else 1.0
        for d in differences
        if d.higher_is_better is not None and "worse" not in (d.verdict, d.hint)
    }
    metrics = matched.a.summary.metrics
    scales = {name: metrics[name].bounds for name in signs if None not in metrics[name].bounds}
    names = list(scales)
    (a, in_a), (b, in_b) = matched.scores(names)
    found = []
    for column, value, inside in _slices(matched):
        for at, name in enumerate(names):
            where = in_a[at] & in_b[at] & inside
            n, (low, high) = int(where.sum()), scales[name]
            if n < LEAST:
                continue
            fall, overall = (
                signs[name] * float((b[at, of] - a[at, of]).mean()) / (high - low)  # type: ignore[operator]
                for of in (where, in_a[at] & in_b[at])
            )
            if min(fall, fall - overall) >= FALL:
                found.append((n * (fall - overall), column, value, at, where))
    for _, column, value, at, where in sorted(found, key=lambda one: -one[0]):
        test = compare_pairs(a[at], b[at], mask=where, correction="none", power=None, **draws)[0]
        if test.p_adjusted is not None and test.p_adjusted < CHANCE:
            counts: dict[str, float | str] = {"n": test.n, "column": column, "value": value}
            counts |= {"new": test.a_mean or 0.0, "old": test.b_mean or 0.0}
            return [Note("slice_fell", counts, (names[at],), "headline")]
    return []


def _slices(matched: MatchedRuns) -> Iterator[tuple[str, str, Mask]]:
    """Each slice of the new run that some of the common queries are in, with these queries."""
    for column, values in matched.a.columns.slices.items():
        labels = [
            {label for row in matched.rows_a[query] for label in labels_of(values[row])}
            for query in matched.queries
        ]
        for value in sorted(set().union(*labels)):
            inside = np.array([value in of_query for of_query in labels], dtype=np.bool_)
            if not inside.all():
                yield column, value, inside
