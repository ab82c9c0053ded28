"""Is the new system really better? Two runs on the same queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragassay.engine import fingerprint
from ragassay.engine.alignment import aligned
from ragassay.engine.behind import names_in
from ragassay.engine.folder import open_run
from ragassay.engine.names import shown
from ragassay.engine.results import Result
from ragassay.engine.summary import Comparison, Difference
from ragassay.engine.systems import systems_of
from ragassay.errors import UsageError
from ragassay.stats import benjamini_hochberg, compare_pairs, holm
from ragassay.stats.paired import apart

CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}
ALPHA = 0.05

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Bounds = tuple[float | None, float | None]


def compare(
    new: Result | str | Path,
    old: Result | str | Path,
    *,
    metrics: str | Sequence[str] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "holm",
    interval: str = "t",
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
        n_resamples: sign flips of the permutation test (exact when few queries differ).
        seed: seed of the permutation test and the bootstrap.
        level: confidence level of the interval of the difference.
        correction: ``holm`` or ``bh`` (Benjamini-Hochberg) across the metrics.
        interval: ``t``, ``percentile`` or ``bca``.
        force: compare although the metrics were not computed alike, or common queries differ in
            what they ask or expect; what differs is then a warning.

    Raises:
        UsageError: no common queries or metrics, an unknown correction, or a run that holds
            several systems (``ragassay.engine.systems.by_system`` takes it apart).
    """
    a, b = _one_system(new), _one_system(old)
    b = aligned(b, a)
    names = _common_metrics(a, b, metrics)
    rows_a, rows_b = rows_by_query(a), rows_by_query(b)
    common = [query for query in rows_a if query in rows_b]
    if not common:
        raise UsageError(
            f"{a.name} and {b.name} have no query in common (by id), so they cannot be compared."
        )
    unlike = [*_unlike_metrics(a, b, names), *_unlike_queries(a, b, common)]
    if unlike and not force:
        raise UsageError(
            f"{a.name} and {b.name} cannot be compared: {' '.join(unlike)} "
            "Compare them nevertheless with --force (force=True)."
        )
    clusters = _clusters(a, rows_a, common)
    matrix_a, mask_a = query_matrix(a, names, rows_a, common)
    matrix_b, mask_b = query_matrix(b, names, rows_b, common)
    found = compare_arrays(
        names,
        matrix_a,
        matrix_b,
        mask=mask_a & mask_b,
        clusters=clusters,
        a_name=a.name,
        b_name=b.name if b.name != a.name else f"{b.name} (old)",
        higher_is_better=[a.summary.metrics[name].higher_is_better for name in names],
        bounds=[a.summary.metrics[name].bounds for name in names],
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        correction=correction,
        interval=interval,
        only_a=len(rows_a) - len(common),
        only_b=len(rows_b) - len(common),
        warnings=[*unlike, *_warnings(a, b, names, common, mask_a, mask_b)],
        clustered_by=a.config.get("cluster_by"),
    )
    alone = [()] * 2 if metrics is not None else [_only(a, b), _only(b, a)]
    return replace(
        found,
        judged_by=_judged_by(a, b, names),
        metrics_only_a=alone[0],
        metrics_only_b=alone[1],
    )


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
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "holm",
    interval: str = "t",
    only_a: int = 0,
    only_b: int = 0,
    warnings: Sequence[str] = (),
    clustered_by: str | None = None,
) -> Comparison:
    """The comparison of two aligned score matrices, shape ``(n_metrics, n_queries)``.

    ``mask`` tells where both runs have a score. ``bounds`` are each metric's lowest and highest
    value: nothing is ``detectable`` where only a difference beyond them would be. See `compare` for
    the rest.
    """
    if correction not in CORRECTIONS:
        raise UsageError(f"correction must be one of {', '.join(CORRECTIONS)}, not {correction!r}.")
    tests = compare_pairs(
        a,
        b,
        mask=mask,
        clusters=clusters,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        interval=interval,
    )
    adjusted = CORRECTIONS[correction]([test.p_value for test in tests])
    directions = higher_is_better or [True] * len(names)
    ranges = bounds or [(None, None)] * len(names)
    differences = tuple(
        Difference(
            name=name,
            a_mean=test.a_mean,
            b_mean=test.b_mean,
            diff=test.diff,
            low=test.low,
            high=test.high,
            p_value=test.p_value,
            significant=None if test.p_value is None else test.p_value < ALPHA,
            p_adjusted=p_adjusted,
            significant_adjusted=None if p_adjusted is None else p_adjusted < ALPHA,
            t_p_value=test.t_p_value,
            cohens_d=test.cohens_d,
            detectable=_possible(test.detectable, *span),
            n=test.n,
            wins=test.wins,
            losses=test.losses,
            ties=test.ties,
            higher_is_better=direction,
        )
        for name, test, p_adjusted, direction, span in zip(
            names, tests, adjusted, directions, ranges, strict=True
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
        warnings=tuple(warnings),
        clustered_by=None if clusters is None else clustered_by,
        n_clusters=None if clusters is None else len(np.unique(clusters)),
    )


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
    result: Result, names: Sequence[str], rows: Mapping[str, list[int]], queries: Sequence[str]
) -> tuple[Matrix, Mask]:
    """Each metric's mean over the repeats of each query, and where there is one."""
    index = np.concatenate([rows[query] for query in queries]).astype(np.int64)
    sizes = np.array([len(rows[query]) for query in queries])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    values = np.zeros((len(names), len(queries)))
    mask = np.zeros(values.shape, dtype=np.bool_)
    for at, name in enumerate(names):
        scored = result.columns.scored(name)[index]
        total = np.add.reduceat(np.where(scored, result.columns.values(name)[index], 0.0), starts)
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
    if any(
        "|nuggets=own" in run.summary.metrics[name].signature for run in (a, b) for name in names
    ):
        found.append(
            "The nuggets are each run's own, so the two systems were not measured against the same "
            "facts; --nuggets pooled, or --nuggets FILE, measures both by one bank."
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


def _unlike_metrics(a: Result, b: Result, names: Sequence[str]) -> list[str]:
    """A sentence for each way in which metrics were not computed alike."""
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
    return [
        f"{', '.join(which)} {'was' if len(which) == 1 else 'were'} not computed alike {how}."
        for how, which in found.items()
    ]


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
