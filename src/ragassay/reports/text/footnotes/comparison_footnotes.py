"""The notes below the table of a comparison: its tests, intervals and verdicts."""

from __future__ import annotations

from collections import Counter

from ragassay.counts import either
from ragassay.engine.results import Comparison
from ragassay.note import Note, joined
from ragassay.reports.text import wording
from ragassay.reports.text.grouping import grouped, sentences
from ragassay.reports.text.note_sentences import all_said
from ragassay.stats import EXACT_UP_TO

MOST_NAMES = 6
"""Metrics that are listed one by one."""


def verdict_line(comparison: Comparison) -> str:
    """One sentence that says how the comparison ended."""
    tally: Counter[str] = Counter(difference.verdict for difference in comparison.differences)
    words = {"unknown": "not testable", "indicative": "indicative only"}
    order = ("better", "worse", "different", "no difference shown", "unknown", "indicative",
             "exploratory", "not comparable")  # fmt: skip
    pieces = [f"{words.get(one, one)} on {tally[one]}" for one in order if tally[one]]
    if not pieces:
        return "The two runs share no metric."
    total = wording.plural(len(comparison.differences), "metric")
    return f"{comparison.a} against {comparison.b}: {', '.join(pieces)} of {total}."


def empty_rows(comparison: Comparison) -> list[str]:
    """The line in place of the rows that a table leaves out; none where it has them all."""
    empty = [d.name for d in comparison.differences if d not in comparison.with_scores]
    if not empty:
        return []
    has, it_is = either(len(empty), "has", "have"), either(len(empty), "it is", "they are")
    return [
        f"{wording.plural(len(empty), 'metric')} {has} no query that both runs scored, so {it_is} "
        f"not in the table: {', '.join(empty)}."
    ]


def comparison_notes(comparison: Comparison) -> list[str]:
    """Which test, how many resamples, which correction, and what the means run over."""
    n_tested = sum(d.p_adjusted is not None for d in comparison.differences)
    notes = [
        *_nothing_shown(comparison),
        f"A (new) = {comparison.a}; B (old) = {comparison.b}. Each mean runs over the queries that "
        f"both runs scored: n, of {comparison.n_common:,} in common.",
        f"p_value: two-sided paired sign-flip test, {comparison.n_resamples:,} random patterns, "
        f"seed {comparison.seed} (all patterns with at most {EXACT_UP_TO} queries or clusters in "
        "common). significant: whether that p is below 0.05, before any correction. t-test p: "
        "paired Student's t-test, which takes the differences for normal.",
        f"p ({wording.correction_name(comparison.correction)}) and the verdict: "
        f"{_corrected(comparison, n_tested)} at the {wording.percent(1 - comparison.level)} level."
        if n_tested
        else "No metric is tested, so none has a corrected p.",
        f"Interval of the difference: {wording.interval_name(comparison.interval)}, "
        f"{interval_levels(comparison)}.",
        *_widened(comparison),
        "Detectable: the smallest true difference that n queries with this spread find with 80 % "
        f"power, tested by itself at the {wording.percent(1 - comparison.level)} level.",
    ]
    notes += cluster_notes(comparison)
    notes += standing_notes(comparison)
    if comparison.judged_by:
        notes.append(f"Judged by {comparison.judged_by}.")
    only = ((comparison.metrics_only_a, "A"), (comparison.metrics_only_b, "B"))
    if metrics := [f"{', '.join(names)} only in {name}" for names, name in only if names]:
        notes.append(f"Metrics not compared: {'; '.join(metrics)}.")
    counts = ((comparison.only_a, "A"), (comparison.only_b, "B"))
    if queries := [f"{wording.plural(n, 'query')} only in {name}" for n, name in counts if n]:
        notes.append(f"Left out: {' and '.join(queries)}.")
    return notes


def _nothing_shown(comparison: Comparison) -> list[str]:
    """How large a difference may be where no metric shows one: each interval's further end."""
    verdicts = {d.verdict for d in comparison.differences}
    if verdicts & {"better", "worse", "different"} or "no difference shown" not in verdicts:
        return []
    unshown = [d for d in comparison.differences if d.verdict == "no difference shown"]
    margins = [
        (max(-d.low, d.high), d.name) for d in unshown if d.low is not None and d.high is not None
    ]
    limits = ", ".join(f"{wording.number(margin)} in {name}" for margin, name in margins)
    if len(margins) > MOST_NAMES:
        ends = (wording.number(of(margins)[0]) for of in (min, max))
        limits = f"{' to '.join(ends)}, by metric (the further end of its interval)"
    clauses = [f"the intervals exclude only a true difference of more than {limits}"]
    clauses *= bool(margins)
    if without := len(unshown) - len(margins):
        which = wording.plural(without, "metric")
        verb = either(without, "excludes", "exclude")
        clauses.append(f"{which} without an interval {verb} nothing")
    return [f"No difference shown does not mean that there is none: {'; '.join(clauses)}."]


def gate_notes(comparison: Comparison) -> list[str]:
    """What each gate of a comparison found."""
    return [f"{gate.sentence[:1].upper()}{gate.sentence[1:]}." for gate in comparison.gates]


def _widened(comparison: Comparison) -> list[str]:
    """Notes on metrics for which the test alone would be too sure, or on verdicts and intervals
    that come from different procedures.
    """
    if comparison.interval != "auto":
        return [
            "The verdict follows the sign-flip test, not this interval: near its ends they may "
            "differ. --interval auto shows the test's own."
        ]
    words = {
        "ties": "most differences are equal, and others may have been missed",
        "skewness": "a few differences are much larger than the others",
    }
    causes = (
        (words[cause], d.name)
        for d in comparison.differences
        if d.low is not None and (cause := d.interval.partition(" and ")[2])
    )
    return sentences("Interval and corrected p are wider than the test's where {}: {}.", causes)


def interval_levels(comparison: Comparison) -> str:
    """The confidence levels of the intervals of the differences: ``at 95 %``, or, where the
    correction asks for more, ``at 97.5 % for em, 95 % for f1``."""
    falling = sorted(comparison.differences, key=lambda d: d.level, reverse=True)
    metrics = grouped((wording.confidence(d.level), d.name) for d in falling if d.low is not None)
    levels = list(metrics) or [wording.confidence(comparison.level)]
    if levels == [wording.confidence(comparison.level)]:
        return f"at {levels[0]}"
    listed = ", ".join(f"{level} for {', '.join(names)}" for level, names in metrics.items())
    if len(levels) == 1:
        listed = levels[0]
    elif len(levels) > MOST_NAMES:
        listed = f"{levels[-1]} to {levels[0]}"
    return f"at {listed} (each metric's is what the correction leaves it)"


def _corrected(comparison: Comparison, n_tested: int) -> str:
    """What the p-values are corrected for; one alone needs no correction."""
    if n_tested == 1:
        return "of the one metric tested between these two runs,"
    how = "not corrected for" if comparison.correction == "none" else "corrected across"
    return f"{how} the {wording.plural(n_tested, 'metric')} tested between these two runs,"


def standing_notes(comparison: Comparison) -> list[str]:
    """Notes on metrics that have no verdict, and on how far their judges agree with people; one
    sentence for each reason.
    """
    notes = [d.why for d in comparison.differences if d.why is not None]
    explained = {name for note in notes if note.kind == "percentile" for name in note.names}
    notes += [
        Note("exploratory", {}, (d.name,))
        for d in comparison.differences
        if d.standing == "exploratory" and d.name not in explained
    ]
    return all_said(joined(notes))


def cluster_notes(comparison: Comparison) -> list[str]:
    """What belongs together in the test; nothing where queries stand alone."""
    if comparison.n_clusters is None:
        return []
    together = comparison.clustered_by or "cluster"
    return [
        f"Test and intervals keep the queries of one {together} together "
        f"({wording.plural(comparison.n_clusters, 'cluster')})."
    ]
