"""Is the new system really better? Two runs on the same queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.engine import drops, fingerprint
from ragassay.engine.alignment import aligned
from ragassay.engine.behind import names_in
from ragassay.engine.folder import open_run
from ragassay.engine.gates import OWED
from ragassay.engine.names import shown
from ragassay.engine.results import Result
from ragassay.engine.standing import Standing, offline_reason, unmeasured_judge
from ragassay.engine.summary import Comparison, Difference
from ragassay.engine.systems import systems_of
from ragassay.errors import UsageError
from ragassay.judges.offline.agreement import NOT_MEASURED
from ragassay.stats import compare_pairs
from ragassay.stats.paired import apart

RAW_ALPHA = 0.05
"""Level of ``significant``, which UltraRAG fixes."""

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Bounds = tuple[float | None, float | None]
Pairs = tuple[Matrix, Mask]
"""A value for each metric and query, and where there is one."""


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
        level: confidence level of the interval of the difference; the rest to 1 is the level of the
            tests together.
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
    by_metric, by_query = _unlike_metrics(a, b, names), _unlike_queries(a, b, common)
    unlike = [*dict.fromkeys(by_metric.values()), *by_query]
    if unlike and not force:
        raise UsageError(
            f"{a.name} and {b.name} cannot be compared: {' '.join(unlike)} "
            "Compare them nevertheless with --force (force=True)."
        )
    own = _own_nuggets(a, b, names)
    not_comparable = dict.fromkeys(names, by_query[0]) if by_query else {}
    not_comparable |= dict.fromkeys(own, "each run has nuggets of its own") | by_metric
    clusters = _clusters(a, rows_a, common)
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
        warnings=[*unlike, *_warnings(a, b, names, common, first[1], second[1])],
        clustered_by=a.config.get("cluster_by"),
        **options,
    )
    alone = [()] * 2 if metrics is not None else [_only(a, b), _only(b, a)]
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
    few = [d.name for d in differences if d.n > 1 and d.low is None]
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


def rows_by_query(result: Result) -> Mapping[str, list[int]]:
    """Row numbers of each query id, in order of first appearance."""
    rows: dict[str, list[int]] = defaultdict(list)
    for at, (query, _, _) in enumerate(result.columns.identities):
        rows[query].append(at)
    return rows


def query_matrix(
    result: Result,
    names: Sequence[str],
    rows: Mapping[str, list[int]],
    queries: Sequence[str],
    owed: float | None = None,
) -> Pairs:
    """Each metric's mean over the repeats of each query, and where there is one.

    ``owed`` takes the place of each score that is missing by accident.
    """
    index = np.concatenate([rows[query] for query in queries]).astype(np.int64)
    sizes = np.array([len(rows[query]) for query in queries])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    values = np.zeros((len(names), len(queries)))
    mask = np.zeros(values.shape, dtype=np.bool_)
    for at, name in enumerate(names):
        scored = result.columns.scored(name)[index]
        known = np.where(scored, result.columns.values(name)[index], 0.0 if owed is None else owed)
        if owed is not None:
            scored = scored | result.columns.unscored(name, OWED)[index]
        total = np.add.reduceat(np.where(scored, known, 0.0), starts)
        count = np.add.reduceat(scored.astype(np.int64), starts)
        mask[at] = count > 0
        values[at] = total / np.maximum(count, 1)
    return values, mask


def query_differences(a: Result, b: Result, names: Sequence[str]) -> list[Matrix]:
    """For each metric the difference A - B of each query that both runs scored, in A's order; 0
    where they are equal up to rounding.

    Both runs show the metrics under these names (`ragassay.engine.alignment.aligned`).
    """
    rows_a, rows_b = rows_by_query(a), rows_by_query(b)
    common = [query for query in rows_a if query in rows_b]
    if not names or not common:
        return [np.zeros(0) for _ in names]
    values_a, mask_a = query_matrix(a, names, rows_a, common)
    values_b, mask_b = query_matrix(b, names, rows_b, common)
    both = mask_a & mask_b
    found = apart(np.where(both, values_a, 0.0), np.where(both, values_b, 0.0))
    return [row[scored] for row, scored in zip(found, both, strict=True)]


def _clusters(
    result: Result, rows: Mapping[str, list[int]], queries: Sequence[str]
) -> NDArray[np.int64] | None:
    keys = result.columns.clusters
    if keys is None:
        return None
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(keys[rows[q][0]], len(codes)) for q in queries])


def _warnings(
    a: Result,
    b: Result,
    names: Sequence[str],
    common: Sequence[str],
    mask_a: Mask,
    mask_b: Mask,
) -> list[str]:
    found = []
    if _own_nuggets(a, b, names):
        found.append(
            "The nuggets are each run's own, so the two systems were not measured against the same "
            "facts and have no verdict; --nuggets pooled, or --nuggets FILE, measures both by one "
            "bank."
        )
    one_sided = int((mask_a != mask_b).sum())
    if one_sided:
        worst = int(np.argmax((mask_a != mask_b).sum(axis=1)))
        found.append(
            f"{one_sided} scores exist in one run only and were left out "
            f"(most of them: {names[worst]}). Unscored answers can make a run look better."
        )
    for run, other in ((a, b), (b, a)):
        lacking = len(rows_by_query(run)) - len(common)
        if lacking:
            found.append(f"{lacking} queries are in {run.name} only; {other.name} lacks them.")
    for result in (a, b):
        if result.summary.incomplete:
            found.append(f"{result.name} is incomplete: {result.summary.incomplete} scores failed.")
    return found


def _own_nuggets(a: Result, b: Result, names: Sequence[str]) -> list[str]:
    """Metrics that measure each run by nuggets of its own."""
    return [
        name
        for name in names
        if any("|nuggets=own" in run.summary.metrics[name].signature for run in (a, b))
    ]


def _unlike_metrics(a: Result, b: Result, names: Sequence[str]) -> dict[str, str]:
    """For each metric that was not computed alike, a sentence about all that differ so."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if not (a.summary.metrics[name].n_scored and b.summary.metrics[name].n_scored):
            continue  # there is nothing to compare; a model that was not there has no identity
        first, second = a.summary.metrics[name].signature, b.summary.metrics[name].signature
        judges_a, judges_b = (names_in(run.summary.metrics[name].judges) for run in (a, b))
        if first == second and judges_a and judges_b and judges_a != judges_b:
            # Two systems of one run have its signature, whoever judged the one and the other.
            how = f"(judge={'+'.join(judges_a)} against judge={'+'.join(judges_b)})"
            found[how].append(name)
        if first != second:
            ours, theirs = first.split("|"), second.split("|")
            only_a = [part for part in ours if part not in theirs]
            only_b = [part for part in theirs if part not in ours]
            found[f"({' '.join(only_a)} against {' '.join(only_b)})"].append(name)
    return {
        name: f"{', '.join(which)} {'was' if len(which) == 1 else 'were'} not computed alike {how}."
        for how, which in found.items()
        for name in which
    }


def _unlike_queries(a: Result, b: Result, common: Sequence[str]) -> list[str]:
    """A sentence where common queries do not ask or expect the same in both runs."""
    if a.summary.fingerprint and a.summary.fingerprint == b.summary.fingerprint:
        return []
    asked_a, asked_b = _asked(a), _asked(b)
    different = [query for query in common if asked_a.get(query) != asked_b.get(query)]
    if not different or not asked_a or not asked_b:
        return []
    example = different[0]
    first, second = (next((s for s in run.samples if s.id == example), None) for run in (a, b))
    facts = fingerprint.differing(first, second) if first and second else []
    return [
        f"{len(different)} of {len(common)} common queries do not ask or expect the same "
        f"(for example {example!r}: {', '.join(facts) or 'its facts'})."
    ]


def _asked(run: Result) -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for identity, number in zip(run.columns.identities, run.columns.asked, strict=False):
        found[identity[0]].add(number)
    return dict(found)
