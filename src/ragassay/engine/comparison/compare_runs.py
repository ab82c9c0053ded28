"""The comparison of two runs on the same queries, metric by metric; and the slice of the data in
which the new run fell although it did not fall over all queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay import suites
from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.printable import few, grouped, plural
from ragassay.engine.comparison.derived_runs import (
    FIRST_IS_OLD,
    MATCHED,
    aligned,
    by_system,
    subset_of,
    with_baseline,
)
from ragassay.engine.comparison.differences import (
    OWN_NUGGETS,
    Mask,
    MatchedRuns,
    compare_arrays,
    compare_means,
    compare_percentile,
    incomparable_metrics,
    incomplete_runs,
    nuggets_of,
    only_in_one,
    same_answers,
)
from ragassay.engine.comparison.gates import decide_drop, resolve_drops
from ragassay.engine.comparison.offline_agreement import judge_agreement, trusted
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.folders.run_folder import open_run
from ragassay.engine.results.result import Result
from ragassay.engine.results.summary import MetricSummary, left_out, shown
from ragassay.engine.results.verdict import Difference, Standing
from ragassay.stats.intervals import alpha_of, check_one_sided, check_options
from ragassay.stats.paired import compare_pairs

Run = Result | str | Path
"""A result, or a run folder."""

UNPAIRED = "Compare their means with the option unpaired (--unpaired)."
FORCE = "Compare them without a verdict on what differs with the option force (--force)."
"""How the refusals of comparisons end that another option makes."""


def compare(
    new: Run,
    old: Run | None = None,
    *,
    baseline: str | None = None,
    metrics: str | Sequence[str] | None = None,
    where: str | Sequence[str] = (),
    primary: str | Sequence[str] | None = None,
    fail_if_drop: str | Sequence[str] = (),
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    correction: str = "maxt",
    trust_offline: bool = False,
    unpaired: bool = False,
    force: bool = False,
) -> Comparison:
    """Tests, metric by metric, whether two runs differ: on the same queries, unless ``unpaired``.

    Examples:
        >>> import ragassay
        >>> new = ragassay.evaluate(ragassay.examples.path_of("hybrid"), ["covers_answer", "em"])
        >>> old = ragassay.evaluate(ragassay.examples.path_of("keyword"), ["covers_answer", "em"])
        >>> for d in ragassay.compare(new, old).differences:
        ...     print(d.name, round(d.diff, 3), d.n, d.verdict)
        covers_answer 0.222 72 better
        em -0.042 72 no difference shown

    Queries are matched by id, others by what the user said so far; repeats of a query are averaged
    first. A query counts for a metric if both runs scored it, and ask and expect the same. Counts
    and geometric means are not compared; percentiles are compared without a test. A metric with
    different names in the runs has the new run's name.

    Args:
        new: the new run (A): a result or a run folder.
        old: the old run (B), the baseline. When left out, ``new`` holds two systems.
        baseline: which of two systems in ``new`` is the old one; when left out: the first.
        metrics: names to compare; all that both runs have when left out.
        where: conditions that hold for the samples compared, in both runs (see
            `ragassay.base.subsets`).
        primary: the metrics that are tested; the others are exploratory, without a verdict, and do
            not affect the tests. When left out: ``metrics``, or the headline of the suite.
        fail_if_drop: the largest drops allowed, such as ``nDCG@10>0.03`` (see
            `ragassay.engine.comparison.gates`); what was found is in `Comparison.gates`.
        n_resamples: sign patterns of the test (all of them up to 16 clusters).
        seed: seed of the sign patterns and the bootstrap.
        level: confidence level of the intervals before correction; 1 minus it is the level of
            all tests together.
        correction: ``maxt`` (step-down max-T), ``holm``, ``bh`` (Benjamini-Hochberg) or ``none``
            across the metrics that are tested.
        trust_offline: give verdicts on metrics judged offline, even if the judge is not known to
            agree with people.
        unpaired: compare the means of different queries (two weeks of logs) by Welch's test;
            nothing is matched, percentiles are left out, and ``fail_if_drop`` is refused.
        force: compare even if the metrics were computed differently, or most common queries
            differ in what they ask or expect. Then there is a warning, and the metrics concerned
            have no verdict.

    Raises:
        UsageError: data in place of a run, no common queries or metrics, conditions that hold for
            no sample, a run whose system failed for every sample, an unknown correction, or a run
            that holds several systems beside another run, or not two alone.
    """
    check_options("auto", level, n_resamples)
    runs = [subset_of(opened(run), where) for run in (new, old) if run is not None]
    given, runs = runs[0].name, by_system(runs[0]) if old is None else [*map(one_system, runs)]
    names = [run.name for run in runs]
    if (n := len(names)) != 2:
        way = f"add where='system={names[0]},{names[1]}'" if n > 2 else "compare(new, old)"
        held = f"{given} holds {plural(n, 'system')} ({few(names)})"
        raise UsageError(f"{held}, and a comparison takes two: {way}.")
    if baseline is not None or old is None:
        runs = with_baseline(runs, baseline)
    a, b = runs
    b = aligned(b, a, by_text=not unpaired)
    if a.name == b.name:
        a, b = replace(a, called=f"{a.name} (new)"), replace(b, called=f"{b.name} (old)")
    names = _common_metrics(a, b, metrics)
    summaries = {name: a.summary.metrics[name] for name in names}
    means = [name for name in names if summaries[name].percentile is None]

    def named(wanted: str | Sequence[str], among: Sequence[str]) -> list[str]:
        compared = {name: summaries[name].metric for name in among}
        used = a.config.get("suite", ())
        return shown(wanted, compared, used, f"what {a.name} and {b.name} compare", write=None)

    matched = MatchedRuns.of(a, b)
    if unpaired and fail_if_drop:
        raise UsageError("--fail-if-drop needs runs on the same queries, without --unpaired.")
    if not (matched.queries or unpaired):
        raise UsageError(
            f"{a.name} and {b.name} have no query in common (by id or text), so they cannot be "
            f"compared query by query. {UNPAIRED}"
        )
    reasons, against = _unlike(matched, means if unpaired else names, unpaired)
    if against and not force:
        others = any(nuggets_of(a, name) != nuggets_of(b, name) for name in names)
        advice = [Note("same_nuggets")] if others and not unpaired else []
        said = " ".join(map(str, [*against, *advice]))
        raise UsageError(f"{a.name} and {b.name} cannot be compared: {said} {FORCE}")
    if primary is not None:
        tested = named(primary, means)
    else:
        beside = left_out(a.summary, a.config.get("suite") or ()) if metrics is None else ()
        tested = [name for name in names if name not in beside] if beside else []
    standing_of = partial(_standing, a, b, reasons, trust_offline)
    standings = [standing_of(name, not tested or name in tested) for name in means]
    if metrics is None and primary is None and not trust_offline:
        # What a suite measures in place of a metric that needs an LLM judge.
        stand_ins = (suites.get(suite).instead.values() for suite in a.config.get("suite") or ())
        hints = {n: Note("offline_hint", names=(n,)) for names in stand_ins for n in names}
        standings = [
            ("indicative", hints[name]) if found == ("tested", None) and name in hints else found
            for name, found in zip(means, standings, strict=True)
        ]
    matching = [note for note in b.summary.notes if note.kind in (FIRST_IS_OLD, MATCHED)]
    facts: dict[str, Any] = {"a": a.name, "b": b.name, "runs": (a, b), "primary": tuple(tested)}
    facts |= {"trust_offline": trust_offline, "correction": correction}
    if unpaired:
        facts |= {"judged_by": _judged_by(a, b, means), "level": level}
        facts["brought"] = (*matching, *against, *incomplete_runs(a, b))
        return compare_means(a, b, means, standings, **facts)
    (values_a, mask_a), (values_b, mask_b) = matched.scores(means)
    for run in () if (mask_a & mask_b).any() else (a, b):
        if failure := run.summary.all_failed:
            raise UsageError(f"{a.name} and {b.name} cannot be compared. Of {run.name}: {failure}")
    clusters, clustered_by = matched.clusters
    draws: dict[str, Any] = {"clusters": clusters, "n_resamples": n_resamples}
    draws |= {"seed": seed, "level": level}
    at = [k for k, name in enumerate(means) if not tested or name in tested]
    by_n = grouped((int(matched.left_by_both(name, alike=True).sum()), name) for name in names)
    brought = [
        *(Note("inapplicable_to_both", {"n": n}, (*by_n[n],), "detail") for n in by_n if n),
        *matching,
        *against,
        *matched.unlike_queries(left_out=True),
        *same_answers(matched),
        *only_in_one(matched, [means[k] for k in at], mask_a[at], mask_b[at]),
        *incomplete_runs(a, b),
    ]
    comparison = compare_arrays(
        means, values_a, values_b, mask=mask_a & mask_b,
        higher_is_better=[summaries[name].higher_is_better for name in means],
        spans=[summaries[name].bounds for name in means], standings=standings,
        clustered_by=clustered_by, judged_by=_judged_by(a, b, names), **draws, **facts,
    )  # fmt: skip
    found = [_with_left_out(d, matched, draws) for d in comparison.differences]
    judged = [d for d in found if d.standing in ("tested", "indicative")]
    fallen = fallen_slice(matched, _sides(matched, judged), draws)
    differences = {d.name: d for d in found} | {
        name: compare_percentile(matched, name, **draws) for name in names if name not in means
    }
    if fail_if_drop:
        check_one_sided(level)
    gates = []
    for gate in resolve_drops(fail_if_drop, lambda name: named(name, names), summaries):
        difference = differences[gate.metric]
        if gate.metric in means:
            # A gate asks of its metric by itself: whether it is a primary one changes nothing.
            standing, why = standing_of(gate.metric, True)
            difference = replace(difference, standing=standing, why=why)
        gates.append(decide_drop(gate, difference, matched, draws))
    alone = [
        tuple(
            name
            for name, metric in run.summary.metrics.items()
            if _is_compared(metric) and name not in other.summary.metrics
        )
        for run, other in ((a, b), (b, a))
    ]
    return replace(
        comparison,
        differences=tuple(differences[name] for name in names),
        only_a=matched.n_alone(a),
        only_b=matched.n_alone(b),
        metrics_only_a=() if metrics or primary else alone[0],
        metrics_only_b=() if metrics or primary else alone[1],
        brought=(*fallen, *brought),
        gates=tuple(gates),
    )


def _unlike(
    matched: MatchedRuns, names: Sequence[str], unpaired: bool
) -> tuple[dict[str, Note], list[Note]]:
    """The metrics that are not comparable, each with the reason, and a note for each way in which
    the runs differ: without ``force`` they are not compared."""
    a, b, shared = matched.a, matched.b, matched.queries
    notes = incomparable_metrics(a, b, names)
    reasons = {name: note for note in notes for name in note.names}
    if unpaired:
        if shared:
            notes = [Note("in_both", {"n": len(shared)}, severity="warning")]
            reasons = dict.fromkeys(names, notes[0])
        return reasons, notes
    by_query = matched.unlike_queries(left_out=False)
    own = [name for name in names if OWN_NUGGETS in (nuggets_of(a, name), nuggets_of(b, name))]
    others = dict.fromkeys(names, by_query[0]) if by_query else {}
    return others | dict.fromkeys(own, Note("own_nuggets")) | reasons, [*notes, *by_query]


def _with_left_out(d: Difference, matched: MatchedRuns, draws: Mapping[str, Any]) -> Difference:
    """A finding, doubtful where the worst and the best value for what one of the runs lacks do not
    both confirm it."""
    finds = d.standing == "tested" and d.significant_adjusted
    if not finds or d.doubt or not matched.n_owed(d.name):
        return d
    for best in (False, True):
        test = matched.at_worst(d.name, draws, best=best)
        same_side = test is not None and (test.diff or 0.0) * (d.diff or 0.0) > 0.0
        if test is None or not same_side or (test.p_adjusted or 0.0) > alpha_of(draws["level"]):
            return replace(d, doubt="left out")
    return d


def _standing(
    a: Result,
    b: Result,
    not_comparable: Mapping[str, Note],
    trust_offline: bool,
    name: str,
    is_primary: bool,
) -> tuple[Standing, Note | None]:
    """What may be concluded from a metric, and how far its judge is known to agree with people, or
    why nothing may."""
    if name in not_comparable:
        reason = str(not_comparable[name]).rstrip(".")
        return "not comparable", Note("not_comparable", {"reason": reason}, (name,))
    sides = [judge_agreement(run.summary.metrics[name]) for run in (a, b)]
    judged = [side for side in sides if side is not None]
    weakest = min(judged, key=lambda value: (not value.indicative, value.sufficient), default=None)
    note = None if weakest is None else weakest.note
    if not is_primary:
        return "exploratory", note
    if weakest is not None and weakest.indicative:
        if not trust_offline:
            return "indicative", note
        note = trusted(weakest)
    return "tested", note


def _judged_by(a: Result, b: Result, names: Sequence[str]) -> str:
    """Who was asked for the metrics compared."""
    sides = [
        ", ".join(dict.fromkeys(j for name in names if (j := run.summary.metrics[name].judge)))
        for run in (a, b)
    ]
    return sides[0] if sides[0] == sides[1] else f"A: {sides[0] or '-'}, B: {sides[1] or '-'}"


def one_system(result: Result) -> Result:
    """The run itself; an error where it holds several systems."""
    systems = result.columns.systems
    if len(systems) > 1:
        raise UsageError(
            f"{result.name} holds {len(systems)} systems ({', '.join(systems)}). Compare its "
            f"systems with each other, or runs of one system each (where: system={systems[0]})."
        )
    return result


def opened(run: Run) -> Result:
    """A run: given, or of a folder."""
    if isinstance(run, Result):
        return run
    if not isinstance(run, (str, Path)) or Path(run).is_file():
        raise UsageError(
            "Give results or run folders. Evaluate the data first: "
            "ragassay.compare(ragassay.evaluate(new), ragassay.evaluate(old))."
        )
    return open_run(run)


def _common_metrics(a: Result, b: Result, wanted: str | Sequence[str] | None) -> list[str]:
    both = {
        name: metric.metric
        for name, metric in a.summary.metrics.items()
        if name in b.summary.metrics and _is_compared(metric)
    }
    if not both:
        of_a, of_b = (few([*run.summary.metrics]) for run in (a, b))
        raise UsageError(
            f"{a.name} and {b.name} have no metric in common: {a.name} has {of_a}, and "
            f"{b.name} has {of_b}."
        )
    if wanted is None:
        return list(both)
    what = "both runs (as a mean or percentile)"
    return shown(wanted, both, a.config.get("suite", ()), what, write=None)


def _is_compared(metric: MetricSummary) -> bool:
    return metric.aggregate == "mean" or metric.percentile is not None


LEAST = 5
"""Queries of a slice that is looked at."""

FALL = 0.25
"""Share of a metric's scale by which it has to fall in a slice, and more than over all queries."""

CHANCE = 0.1
"""The p-value of a fall, without any correction, from which it may be chance."""

Sides = tuple[NDArray[np.float64], NDArray[np.float64], Mask, float]
"""Values of the new and the old run for each common query, where both are known, and the factor
that makes a difference a rise as a share of the scale."""


def _sides(matched: MatchedRuns, differences: Sequence[Difference]) -> dict[str, Sides]:
    """The metrics that could fall in a slice: those that are not worse as a whole."""
    signs = {
        d.name: -1.0 if d.higher_is_better is False else 1.0
        for d in differences
        if d.higher_is_better is not None and "worse" not in (d.verdict, d.hint)
    }
    (a, in_a), (b, in_b) = matched.scores([*signs])
    found = {}
    for at, (name, sign) in enumerate(signs.items()):
        low, high = matched.a.summary.metrics[name].bounds
        if low is not None and high is not None:
            found[name] = a[at], b[at], in_a[at] & in_b[at], sign / (high - low)
    return found


def fallen_slice(
    matched: MatchedRuns, sides: Mapping[str, Sides], draws: Mapping[str, Any]
) -> list[Note]:
    """The slice and the metric that fell the most against what the metric did over all queries,
    times the queries of the slice; and which others of its column fell so. It is a hint: of all
    slices and metrics, the worst is taken."""
    found = []
    for column, value, inside in _slices(matched):
        for name, (a, b, both, factor) in sides.items():
            where = both & inside
            if (n := int(where.sum())) < LEAST:
                continue
            fall, overall = (factor * float((b - a)[of].mean()) for of in (where, both))
            if min(fall, fall - overall) >= FALL:
                found.append((n * (fall - overall), column, value, name, where))
    found.sort(key=lambda item: (-item[0], item[1] == "language"))  # which may be a guess
    fallen = list[Note]()
    for _, column, value, name, where in found:
        if fallen and (column, name) != (fallen[0].counts["column"], *fallen[0].names):
            continue
        a, b, *_ = sides[name]
        test = compare_pairs(a, b, mask=where, correction="none", power=None, **draws)[0]
        if test.p_adjusted is not None and test.p_adjusted < CHANCE:
            counts: dict[str, float | str] = {"n": test.n, "column": column, "value": value}
            counts |= {"new": test.a_mean or 0.0, "old": test.b_mean or 0.0}
            fallen.append(Note("slice_fell", counts, (name,), "headline"))
    for worst in fallen[:1]:
        values = tuple(str(note.counts["value"]) for note in fallen[1:])
        others = Note("slices_also_fell", {"column": str(worst.counts["column"])}, values)
        fallen = [replace(worst, counts={**worst.counts, "also": str(others) if values else ""})]
    return fallen


def weakest_slice(run: Result) -> list[Note]:
    """The slice whose share that is right is as far below that of all as one falls, to be named."""
    if (found := run.diagnosis) is None or found.share_right is None:
        return []
    return slice_of_right(MatchedRuns.of(run, run), found.headline, [found.right], found.level)


def slice_of_right(
    matched: MatchedRuns, name: str, rights: Sequence[Sequence[float | None]], level: float
) -> list[Note]:
    """The slice whose share that is right fell; of one run, against the share of all queries."""
    sides = []
    for right, rows in zip(rights, (matched.rows_a, matched.rows_b), strict=False):
        each = [[right[row] for row in rows[query]] for query in matched.queries]
        sides.append(np.array([np.nan if None in of else np.mean(of) for of in each]))  # type: ignore[arg-type]
    now, known = sides[0], ~np.isnan(sides[0])
    then = sides[1] if sides[1:] else np.full_like(now, now[known].mean() if known.any() else 0.0)
    draws = {"clusters": matched.clusters[0], "level": level}
    return fallen_slice(matched, {name: (now, then, ~np.isnan(now + then), 1.0)}, draws)


def _slices(matched: MatchedRuns) -> Iterator[tuple[str, str, Mask]]:
    """Each slice of the new run that some of the common queries are in, with these queries."""
    for column, labels in matched.a.columns.slices.items():
        by_query = [
            {label for row in matched.rows_a[query] for label in labels[row]}
            for query in matched.queries
        ]
        for value in sorted(set().union(*by_query)):
            inside = np.array([value in of_query for of_query in by_query], dtype=np.bool_)
            if not inside.all():
                yield column, value, inside
