"""Is the new system really better? Two runs on the same queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.engine import drops
from ragassay.engine.alignment import aligned
from ragassay.engine.drops import Bounds
from ragassay.engine.folder import open_run
from ragassay.engine.gates import OWED
from ragassay.engine.likeness import (
    SAME_NUGGETS,
    differ_in_nuggets,
    own_nuggets,
    unlike_metrics,
    unlike_queries,
    warnings_of,
)
from ragassay.engine.names import shown
from ragassay.engine.pairs import Mask, Matrix, Pairs, clusters_of, query_matrix, rows_by_query
from ragassay.engine.results import Result
from ragassay.engine.standing import offline_reason, unmeasured_judge
from ragassay.engine.summary import Comparison, Difference, Standing
from ragassay.engine.systems import systems_of
from ragassay.errors import UsageError
from ragassay.judges.offline.agreement import NOT_MEASURED
from ragassay.stats import compare_pairs
from ragassay.stats.intervals import one_sided

RAW_ALPHA = 0.05
"""Level of ``significant``, which UltraRAG fixes."""


def compare(
    new: Result | str | Path,
    old: Result | str | Path,
    *,
    metrics: str | Sequence[str] | None = None,
    primary: str | Sequence[str] | None = None,
    fail_if_drop: str | Sequence[str] = (),
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "maxt",
    interval: str = "auto",
    trust_offline: bool = False,
    force: bool = False,
) -> Comparison:
    """Tests, metric by metric, whether two runs on the same queries differ.

    Queries are matched by id; repeats of a query are averaged first. A query counts for a metric
    when both runs scored it. Counts and geometric means are not compared. A metric that the runs
    show under different names is one metric; it goes by the new run's name.

    Args:
        new: the new run (A): a result or a run folder.
        old: the old run (B), the baseline.
        metrics: names to compare; all that both runs have when left out.
        primary: the metrics that are tested; the others are shown as exploratory and weaken
            nothing. All that may have a verdict when left out.
        fail_if_drop: the largest drops allowed, such as ``nDCG@10>0.03`` (see
            `ragassay.engine.drops`); what was found is in `Comparison.gates`.
        n_resamples: sign patterns of the test (all of them up to 16 clusters).
        seed: seed of the sign patterns and the bootstrap.
        level: confidence level of the intervals before correction; the rest to 1 is the level of
            the tests together.
        correction: ``maxt`` (step-down max-T), ``holm``, ``bh`` (Benjamini-Hochberg) or ``none``
            across the metrics that are tested.
        interval: ``auto`` (the sign-flip test inverted), ``t``, ``percentile`` or ``bca``.
        trust_offline: give verdicts on metrics judged offline, whatever the judge's agreement with
            people.
        force: compare although the metrics were not computed alike, or common queries differ in
            what they ask or expect. What differs is then a warning, and has no verdict.

    Raises:
        UsageError: no common queries or metrics, an unknown correction, or a run that holds
            several systems (``ragassay.engine.systems.by_system`` takes it apart).
    """
    a, b = _one_system(new), _one_system(old)
    b = aligned(b, a)
    names = _common_metrics(a, b, metrics)
    rows_a, rows_b = rows_by_query(a), rows_by_query(b)
    # Sorted, because the random sign patterns belong to positions.
    common = sorted(query for query in rows_a if query in rows_b)
    if not common:
        raise UsageError(
            f"{a.name} and {b.name} have no query in common (by id), so they cannot be compared."
        )
    by_metric, by_query = unlike_metrics(a, b, names), unlike_queries(a, b, common)
    unlike = [*dict.fromkeys(by_metric.values()), *by_query]
    if unlike and not force:
        advice = f"{SAME_NUGGETS} " if differ_in_nuggets(a, b, list(by_metric)) else ""
        raise UsageError(
            f"{a.name} and {b.name} cannot be compared: {' '.join(unlike)} {advice}"
            "Compare them nevertheless, without a verdict on what differs, with --force "
            "(force=True)."
        )
    own = own_nuggets(a, b, names)
    not_comparable = dict.fromkeys(names, by_query[0]) if by_query else {}
    not_comparable |= dict.fromkeys(own, "each run has nuggets of its own") | by_metric
    clusters = clusters_of(a, rows_a, common)
    first, second = (
        query_matrix(run, names, rows, common) for run, rows in ((a, rows_a), (b, rows_b))
    )
    shown_as = [a.summary.metrics[name] for name in names]
    options: dict[str, Any] = {
        "clusters": clusters,
        "higher_is_better": [metric.higher_is_better for metric in shown_as],
        "bounds": [metric.bounds for metric in shown_as],
        "n_resamples": n_resamples,
        "seed": seed,
        "level": level,
        "interval": interval,
    }
    wanted = () if primary is None else tuple(_named(primary, a, b, names))
    standings = _standings(a, b, names, not_comparable, wanted, trust_offline)
    found = compare_arrays(
        names,
        first[0],
        second[0],
        mask=first[1] & second[1],
        a_name=a.name,
        b_name=b.name if b.name != a.name else f"{b.name} (old)",
        correction=correction,
        standings=standings,
        only_a=len(rows_a) - len(common),
        only_b=len(rows_b) - len(common),
        warnings=[*unlike, *warnings_of(a, b, names, common, first[1], second[1])],
        clustered_by=a.config.get("cluster_by"),
        **options,
    )
    alone = [()] * 2 if metrics is not None else [_only(a, b), _only(b, a)]
    if fail_if_drop:
        one_sided(level)
    margins = drops.resolve(fail_if_drop, lambda name: _named(name, a, b, names), shown_as)

    def owed_at(margin: drops.Margin, end_a: float, end_b: float) -> Bounds:
        """One-sided bounds of the difference with each owed score of A and B at these values."""
        name = margin.metric
        new_pairs = query_matrix(a, [name], rows_a, common, owed=end_a)
        old_pairs = query_matrix(b, [name], rows_b, common, owed=end_b)
        span = {"bounds": [a.summary.metrics[name].bounds], "higher_is_better": [True]}
        return _bounds_of_pairs(new_pairs, old_pairs, {**options, **span})

    gates = tuple(
        drops.judge(
            margin,
            a.summary.metrics[margin.metric],
            found.differences[names.index(margin.metric)],
            partial(owed_at, margin),
            _n_owed(a, b, margin.metric, rows_a, rows_b, common),
            level,
        )
        for margin in margins
    )
    return replace(
        found,
        judged_by=_judged_by(a, b, names),
        metrics_only_a=alone[0],
        metrics_only_b=alone[1],
        primary=wanted,
        gates=gates,
    )


def _bounds_of_pairs(
    first: Pairs, second: Pairs, options: Mapping[str, Any]
) -> tuple[float | None, float | None]:
    """One-sided bounds of the difference of one metric."""
    found = compare_arrays(["m"], first[0], second[0], mask=first[1] & second[1], **options)
    return found.differences[0].least, found.differences[0].most


def _n_owed(
    a: Result,
    b: Result,
    name: str,
    rows_a: Mapping[str, list[int]],
    rows_b: Mapping[str, list[int]],
    queries: Sequence[str],
) -> int:
    """How many scores of a metric the two runs owe."""
    return sum(
        int(run.columns.unscored(name, OWED)[[at for query in queries for at in rows[query]]].sum())
        for run, rows in ((a, rows_a), (b, rows_b))
    )


def _named(wanted: str | Sequence[str], a: Result, b: Result, names: Sequence[str]) -> list[str]:
    """The compared metrics that names mean.

    Raises:
        UsageError: a name that is not among them.
    """
    compared = {name: a.summary.metrics[name].metric for name in names}
    return shown(wanted, compared, a.config.get("suite", ()), f"what {a.name} and {b.name} compare")


def _standings(
    a: Result,
    b: Result,
    names: Sequence[str],
    not_comparable: Mapping[str, str],
    primary: Sequence[str],
    trust_offline: bool,
) -> list[tuple[Standing, str]]:
    """What may be concluded from each metric, and why no more."""
    found: list[tuple[Standing, str]] = []
    for name in names:
        sides = [run.summary.metrics[name] for run in (a, b)]
        offline = next((said for side in sides if (said := offline_reason(side))), "")
        if name in not_comparable:
            found.append(("not comparable", not_comparable[name]))
        elif offline and not trust_offline:
            found.append(("indicative", offline))
        elif primary and name not in primary:
            found.append(("exploratory", ""))
        else:
            unmeasured = any(unmeasured_judge(side) for side in sides)
            found.append(("tested", NOT_MEASURED if unmeasured else offline))
    return found


def _only(run: Result, other: Result) -> tuple[str, ...]:
    """Metrics that could be compared, if the other run had them."""
    return tuple(
        name
        for name, metric in run.summary.metrics.items()
        if metric.aggregate == "mean" and name not in other.summary.metrics
    )


def _judged_by(a: Result, b: Result, names: Sequence[str]) -> str:
    """Who was asked for the metrics compared."""
    sides = [
        ", ".join(dict.fromkeys(j for name in names if (j := run.summary.metrics[name].judge)))
        for run in (a, b)
    ]
    return sides[0] if sides[0] == sides[1] else f"A: {sides[0] or '-'}, B: {sides[1] or '-'}"


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
    bounds: Sequence[Bounds] | None = None,
    standings: Sequence[tuple[Standing, str]] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "maxt",
    interval: str = "auto",
    only_a: int = 0,
    only_b: int = 0,
    warnings: Sequence[str] = (),
    clustered_by: str | None = None,
) -> Comparison:
    """The comparison of two aligned score matrices, shape ``(n_metrics, n_queries)``.

    ``mask`` tells where both runs have a score. ``bounds`` are each metric's lowest and highest
    value: nothing is ``detectable`` where only a difference beyond them would be. ``standings`` say
    which metrics are tested; all when left out. See `compare` for the rest.
    """
    directions = higher_is_better or [True] * len(names)
    ranges = bounds or [(None, None)] * len(names)
    roles: Sequence[tuple[Standing, str]] = standings or [("tested", "")] * len(names)
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
        interval=interval,
    )
    alpha = round(1.0 - level, 12)
    differences = tuple(
        Difference(
            name=name,
            a_mean=test.a_mean,
            b_mean=test.b_mean,
            diff=test.diff,
            low=test.low,
            high=test.high,
            p_value=test.p_value,
            significant=None if test.p_value is None else test.p_value < RAW_ALPHA,
            p_adjusted=test.p_adjusted,
            significant_adjusted=None if test.p_adjusted is None else test.p_adjusted <= alpha,
            t_p_value=test.t_p_value,
            cohens_d=test.cohens_d,
            detectable=_possible(test.detectable, *span),
            n=test.n,
            wins=test.wins,
            losses=test.losses,
            ties=test.ties,
            higher_is_better=direction,
            level=test.level_used,
            interval=test.interval,
            least=test.least,
            most=test.most,
            standing=standing,
            why=why,
        )
        for name, test, direction, span, (standing, why) in zip(
            names, tests, directions, ranges, roles, strict=True
        )
    )
    return Comparison(
        a=a_name,
        b=b_name,
        differences=differences,
        n_common=a.shape[1],
        only_a=only_a,
        only_b=only_b,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        correction=correction,
        interval=interval,
        warnings=(*warnings, *_without_interval(differences)),
        clustered_by=None if clusters is None else clustered_by,
        n_clusters=None if clusters is None else len(np.unique(clusters)),
    )


def _without_interval(differences: Sequence[Difference]) -> list[str]:
    """What is to be known of differences that have no interval."""
    few = [d.name for d in differences if d.n and d.low is None]
    if not few:
        return []
    return [
        f"{', '.join(few)}: no interval, because so few queries (or clusters) "
        "cannot reach the level of the test, or all differences are equal and the metric has no "
        "range."
    ]


def _possible(difference: float | None, low: float | None, high: float | None) -> float | None:
    """The difference, unless no two values of a metric with these bounds are so far apart."""
    if difference is None or low is None or high is None or difference <= high - low:
        return difference
    return None


def _one_system(run: Result | str | Path) -> Result:
    result = run if isinstance(run, Result) else open_run(run)
    systems = systems_of(result)
    if len(systems) > 1:
        raise UsageError(
            f"{result.name} holds {len(systems)} systems ({', '.join(systems)}): name that folder "
            "alone to compare them with each other, or run each system by itself."
        )
    return result


def _common_metrics(a: Result, b: Result, wanted: str | Sequence[str] | None) -> list[str]:
    both = {
        name: metric.metric
        for name, metric in a.summary.metrics.items()
        if name in b.summary.metrics and metric.aggregate == "mean"
    }
    if not both:
        raise UsageError(
            f"{a.name} and {b.name} have no metric in common: {a.name} has {_first(a)}, and "
            f"{b.name} has {_first(b)}."
        )
    if wanted is None:
        return list(both)
    return shown(wanted, both, a.config.get("suite", ()), "both runs (as a mean)")


def _first(run: Result) -> str:
    names = list(run.summary.metrics)
    return ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")
