"""The comparison of two runs on the same queries, metric by metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.engine.comparison import drops
from ragassay.engine.comparison.comparability import (
    SAME_NUGGETS,
    differ_in_nuggets,
    differing_queries,
    incomparable_metrics,
    own_nuggets,
    warnings_of,
)
from ragassay.engine.comparison.derived_runs import aligned
from ragassay.engine.comparison.pairs import Mask, MatchedRuns, Matrix
from ragassay.engine.comparison.percentile_pairs import compare_percentile
from ragassay.engine.comparison.standing import offline_figure, offline_reason, unmeasured_judge
from ragassay.engine.results import (
    Comparison,
    Difference,
    GateResult,
    MetricSummary,
    Result,
    Standing,
    open_run,
    shown,
)
from ragassay.errors import UsageError
from ragassay.judges.offline import NOT_MEASURED
from ragassay.stats import Bounds, Span, alpha_of, check_one_sided, compare_pairs

RAW_ALPHA = 0.05
"""Level of ``significant``, which UltraRAG fixes."""

_TESTED = (
    *("a_mean", "b_mean", "diff", "low", "high", "p_value", "p_adjusted", "t_p_value", "cohens_d"),
    *("n", "wins", "losses", "ties", "interval", "least", "most", "too_few"),
)
"""What a `Difference` has of its test."""


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

    Examples:
        >>> import ragassay
        >>> new = ragassay.evaluate(ragassay.examples.path_of("hybrid"), ["covers_answer", "em"])
        >>> old = ragassay.evaluate(ragassay.examples.path_of("keyword"), ["covers_answer", "em"])
        >>> for d in ragassay.compare(new, old).differences:
        ...     print(d.name, round(d.diff, 3), d.n, d.verdict)
        covers_answer 0.222 72 better
        em -0.042 72 no difference shown

    Queries are matched by id; repeats of a query are averaged first. A query counts for a metric
    when both runs scored it. Counts and geometric means are not compared; percentiles are, with an
    interval and without a test. A metric that the runs
    show under different names is one metric; it goes by the new run's name.

    Args:
        new: the new run (A): a result or a run folder.
        old: the old run (B), the baseline.
        metrics: names to compare; all that both runs have when left out.
        primary: the metrics that are tested; the others are shown as exploratory and weaken
            nothing. All that may have a verdict when left out.
        fail_if_drop: the largest drops allowed, such as ``nDCG@10>0.03`` (see
            `ragassay.engine.comparison.drops`); what was found is in `Comparison.gates`.
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
        UsageError: no common queries or metrics, a run whose system failed for every sample, an
            unknown correction, or a run that holds several systems
            (``ragassay.engine.comparison.derived_runs.by_system`` takes it apart).
    """
    a, b = _one_system(new), _one_system(old)
    b = aligned(b, a)
    names = _common_metrics(a, b, metrics)
    matched = MatchedRuns.of(a, b)
    if not matched.queries:
        raise UsageError(
            f"{a.name} and {b.name} have no query in common (by id), so they cannot be compared."
        )
    not_comparable, reasons_against = _refusals(matched, names, force)
    in_order = names
    tails = [name for name in names if a.summary.metrics[name].percentile is not None]
    names = [name for name in names if name not in tails]
    shown_as = [a.summary.metrics[name] for name in names]
    wanted = () if primary is None else tuple(_named(primary, a, b, names))
    (values_a, mask_a), (values_b, mask_b) = matched.scores(names)
    for run in () if (mask_a & mask_b).any() else (a, b):
        if gone := run.summary.all_failed:
            raise UsageError(f"{a.name} and {b.name} cannot be compared. Of {run.name}: {gone}")
    clusters, clustered_by = matched.clusters
    options: dict[str, Any] = {
        "clusters": clusters,
        "n_resamples": n_resamples,
        "seed": seed,
        "level": level,
        "interval": interval,
    }
    comparison = compare_arrays(
        names,
        values_a,
        values_b,
        mask=mask_a & mask_b,
        a_name=a.name,
        b_name=b.name if b.name != a.name else f"{b.name} (old)",
        higher_is_better=[metric.higher_is_better for metric in shown_as],
        spans=[metric.bounds for metric in shown_as],
        correction=correction,
        standings=_standings(a, b, names, not_comparable, wanted, trust_offline),
        warnings=[*reasons_against, *warnings_of(a, b, names, matched.queries, mask_a, mask_b)],
        clustered_by=clustered_by,
        **options,
    )
    drawn = {name: options[name] for name in ("clusters", "n_resamples", "seed", "level")}
    of_tails = [compare_percentile(matched, name, **drawn) for name in tails]
    if fail_if_drop:
        check_one_sided(level)
    every = [a.summary.metrics[name] for name in in_order]
    margins = drops.resolve(fail_if_drop, lambda name: _named(name, a, b, in_order), every)
    # A gate asks of its metric by itself: whether it is a primary one changes nothing.
    by_itself = _standings(a, b, names, not_comparable, (), trust_offline)
    found = {one.name: one for one in (*comparison.differences, *of_tails)}
    by_name = found | {
        name: replace(found[name], standing=standing, why=why)
        for name, (standing, why) in zip(names, by_itself, strict=True)
    }
    alone = [()] * 2 if metrics is not None else [_only(a, b), _only(b, a)]
    return replace(
        comparison,
        differences=tuple(found[name] for name in in_order),
        only_a=len(matched.rows_a) - len(matched.queries),
        only_b=len(matched.rows_b) - len(matched.queries),
        judged_by=_judged_by(a, b, in_order),
        metrics_only_a=alone[0],
        metrics_only_b=alone[1],
        primary=wanted,
        gates=tuple(_drop_gate(one, by_name[one.metric], matched, options) for one in margins),
        runs=(a, b),
    )


def _refusals(
    matched: MatchedRuns, names: Sequence[str], force: bool
) -> tuple[dict[str, str], list[str]]:
    """The metrics that are not comparable, each with the reason, and a warning for each way in
    which the runs differ.

    Raises:
        UsageError: there is such a way, and the comparison is not forced.
    """
    a, b = matched.a, matched.b
    by_metric, by_query = (
        incomparable_metrics(a, b, names),
        differing_queries(a, b, matched.queries),
    )
    reasons_against = [*dict.fromkeys(by_metric.values()), *by_query]
    if reasons_against and not force:
        advice = f"{SAME_NUGGETS} " if differ_in_nuggets(a, b, list(by_metric)) else ""
        raise UsageError(
            f"{a.name} and {b.name} cannot be compared: {' '.join(reasons_against)} {advice}"
            "Compare them nevertheless, without a verdict on what differs, with --force "
            "(force=True)."
        )
    reasons = dict.fromkeys(names, by_query[0]) if by_query else {}
    reasons |= dict.fromkeys(own_nuggets(a, b, names), "each run has nuggets of its own")
    return reasons | by_metric, reasons_against


def _drop_gate(
    margin: drops.Margin, difference: Difference, matched: MatchedRuns, options: dict[str, Any]
) -> GateResult:
    """The result of a gate on the largest drop allowed of one metric."""
    metric = matched.a.summary.metrics[margin.metric]
    lacking = matched.lacking([margin.metric])

    def bounds_with(owed_a: float, owed_b: float, with_lacking: bool) -> Bounds:
        """One-sided bounds of the difference with each owed score of A and B at these values,
        with or without the queries that A lacks."""
        runs = matched.with_queries(lacking) if with_lacking else matched
        first, second = runs.scores([margin.metric], (owed_a, owed_b))
        (test,) = compare_pairs(
            first[0],
            second[0],
            mask=first[1] & second[1],
            spans=[metric.bounds],
            **options | {"clusters": runs.clusters[0]},
        )
        return test.least, test.most

    n_owed = matched.n_owed(margin.metric)
    return drops.decide(
        margin, metric, difference, bounds_with, n_owed, len(lacking), options["level"]
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
    standings: list[tuple[Standing, str]] = []
    for name in names:
        sides = [run.summary.metrics[name] for run in (a, b)]
        offline = next((reason for side in sides if (reason := offline_reason(side))), "")
        if name in not_comparable:
            standings.append(("not comparable", not_comparable[name]))
        elif primary and name not in primary:
            standings.append(("exploratory", offline))
        elif offline and not trust_offline:
            standings.append(("indicative", offline))
        else:
            unmeasured = any(unmeasured_judge(side) for side in sides)
            figure = next((reason for side in sides if (reason := offline_figure(side))), "")
            standings.append(("tested", NOT_MEASURED if unmeasured else figure))
    return standings


def _only(run: Result, other: Result) -> tuple[str, ...]:
    """Metrics that could be compared, if the other run had them."""
    return tuple(
        name
        for name, metric in run.summary.metrics.items()
        if _is_compared(metric) and name not in other.summary.metrics
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
    spans: Sequence[Span] | None = None,
    standings: Sequence[tuple[Standing, str]] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "maxt",
    interval: str = "auto",
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
        spans: lowest and highest value of each metric. A difference that is larger than they allow
            is not ``detectable``.
        standings: what may be concluded from each metric, and why; all are tested when left out.
        n_resamples, seed, level, correction, interval: see `compare`.
        warnings: sentences for the reader.
        clustered_by: name of the clusters.
    """
    directions = higher_is_better or [True] * len(names)
    ranges = spans or [(None, None)] * len(names)
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
    alpha = alpha_of(level)
    differences = tuple(
        Difference(
            name=name,
            **{key: getattr(test, key) for key in _TESTED},
            significant=None if test.p_value is None else test.p_value < RAW_ALPHA,
            significant_adjusted=None if test.p_adjusted is None else test.p_adjusted <= alpha,
            detectable=_possible(test.detectable, *span),
            higher_is_better=direction,
            level=test.level_used,
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
        only_a=0,
        only_b=0,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        correction=correction,
        interval=interval,
        warnings=(*warnings, *_without_interval(differences, interval)),
        clustered_by=None if clusters is None else clustered_by,
        n_clusters=None if clusters is None else len(np.unique(clusters)),
    )


def _without_interval(differences: Sequence[Difference], interval: str) -> list[str]:
    """A warning that names the metrics whose difference has no interval of the kind asked for."""
    without = [d for d in differences if d.n and d.low is None]
    spread = [d for d in without if d.n > 1 and not (interval == "auto" and d.too_few)]
    equal = [d.name for d in spread if d.cohens_d is None]
    few = [d.name for d in without if d.name not in equal]
    reasons = {
        "so few queries (or clusters) cannot reach the level of the test": few,
        "all differences are equal: they show no spread": equal,
    }
    return [
        f"{', '.join(names)}: no interval, because {why}."
        for why, names in reasons.items()
        if names
    ]


def _possible(difference: float | None, low: float | None, high: float | None) -> float | None:
    """The difference; ``None`` where it is larger than the range of the metric allows."""
    if difference is None or low is None or high is None or difference <= high - low:
        return difference
    return None


def _one_system(run: Result | str | Path) -> Result:
    result = run if isinstance(run, Result) else open_run(run)
    systems = result.columns.systems
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
        if name in b.summary.metrics and _is_compared(metric)
    }
    if not both:
        held = [list(run.summary.metrics) for run in (a, b)]
        of_a, of_b = (", ".join(one[:6]) + (" ..." if len(one) > 6 else "") for one in held)
        raise UsageError(
            f"{a.name} and {b.name} have no metric in common: {a.name} has {of_a}, and "
            f"{b.name} has {of_b}."
        )
    if wanted is None:
        return list(both)
    return shown(wanted, both, a.config.get("suite", ()), "both runs (as a mean or percentile)")


def _is_compared(metric: MetricSummary) -> bool:
    return metric.aggregate == "mean" or metric.percentile is not None
