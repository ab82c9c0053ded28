"""Which classes of failing samples a change moved: the diagnoses of two runs, sample by sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.note import Displayed, Note
from ragassay.engine.comparison.compare_runs import Run, one_system, opened, slice_of_right
from ragassay.engine.comparison.derived_runs import MATCHED, aligned
from ragassay.engine.comparison.differences import (
    OWN_NUGGETS,
    MatchedRuns,
    incomparable_metrics,
    nuggets_of,
)
from ragassay.engine.diagnosis.decision_table import CLASSES, UNEXPLAINED
from ragassay.engine.diagnosis.diagnosing import Diagnosis, diagnosis_of, headline_of
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.result import Result
from ragassay.engine.results.summary import sample_clusters
from ragassay.engine.results.verdict import Difference
from ragassay.stats.intervals import alpha_of
from ragassay.stats.paired import PairedResult, compare_pairs

FINE, REFUSAL = "fine", "refusal"
"""Stand for a sample that does not fail, and for a refusal that nothing rates."""

RIGHT = {"answers": "share of right answers", "support": "share of samples without a fault"}
"""What the share of samples that do not fail is called, where the headline judges answers."""

MOST_SAMPLES = 2_000
"""Samples of a run up to which a comparison looks at right answers by itself."""


Side = tuple[Diagnosis, Mapping[tuple[str, int], int], Result]
"""A run's diagnosis, its rows by query and repeat, and the run."""


@dataclass(frozen=True)
class MovedClass:
    """The samples of one class in two runs, over the samples of which both say whether they fail.
    ``entered`` and ``left`` count those in it in one run only; ``diff`` is the difference of its
    shares (new - old) with its interval. The test (paired sign flips; corrected by max-T across the
    classes) is ``None`` where the runs were not computed alike (`Moved.not_alike`); it is
    ``only_hint`` where it rests on a judge without known agreement with people."""

    name: str
    title: str
    new: int
    old: int
    entered: int
    left: int
    diff: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    only_hint: bool = False


@dataclass(frozen=True)
class Moved(Displayed):
    """What a change did to the failing samples of ``n`` that both runs have. Of ``n_unknown`` one
    run does not say whether they fail (`Diagnosis.unknown`): they are neither mended nor broken.

    ``transitions`` counts samples by class in the old run and in the new one (``fine`` where they
    do not fail, ``refusal`` where nothing rates that), ``unlike`` names signals that the runs know
    by different metrics, ``not_alike`` says what else differs beside the system: what moved may be
    due to that, and is not tested; ``matched`` names queries matched by text, or left out.

    ``right`` is the difference of the shares of right answers, or of samples without a fault where
    the headline is support, tested by itself, a hint where it compares words or rests on a judge
    without known agreement; ``None`` where the headline measures something else. ``broken`` has the
    queries that became wrong, with the class of each, ``mended`` those that became right."""

    new: Diagnosis
    old: Diagnosis
    n: int
    n_unknown: int
    level: float
    classes: tuple[MovedClass, ...]
    transitions: Mapping[tuple[str, str], int]
    unlike: tuple[str, ...]
    not_alike: tuple[str, ...] = ()
    matched: tuple[Note, ...] = ()
    right: Difference | None = None
    broken: tuple[tuple[str, str], ...] = ()
    mended: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Moved {self.new.name!r} against {self.old.name!r}: samples={self.n}>"

    @property
    def n_decided(self) -> int:
        """The samples of which both runs say whether they fail."""
        return self.n - self.n_unknown

    @property
    def words(self) -> tuple[str, str]:
        """What happened to the queries that are ``broken``, and to those that are ``mended``."""
        rights = self.new.measures == "answers"
        return ("became wrong", "became right") if rights else ("got worse", "got better")

    def to_json(self) -> dict[str, Any]:
        """The change as JSON, with both diagnoses."""
        plain = ("n", "n_unknown", "level", "unlike", "not_alike", "broken", "mended")
        return {name: getattr(self, name) for name in plain} | {
            "classes": [dict(vars(class_name)) for class_name in self.classes],
            "transitions": [
                {"old": old, "new": new, "n": n} for (old, new), n in self.transitions.items()
            ],
            "right": None if self.right is None else self.right.to_json(),
            "new": self.new.to_json(),
            "old": self.old.to_json(),
        }


def moved(
    new: Result,
    old: Result,
    *,
    headline: str | None = None,
    below: float | None = None,
    **options: Any,
) -> Moved:
    """Diagnoses two runs alike, and says which classes the samples moved between.

    Samples are matched by query id (or text, where it has another id) and repeat."""
    old = aligned(one_system(old), one_system(new))
    headline = headline or headline_of(new, old.summary.metrics)
    first = diagnosis_of(new, headline=headline, below=below, **options)
    options |= {"headline": first.headline, "below": first.below}
    second = diagnosis_of(old, **options)
    rows_new, rows_old = (
        {(query, repeat): at for at, (query, _, repeat) in enumerate(run.columns.identities)}
        for run in (new, old)
    )
    matched = MatchedRuns.of(new, old)
    common = [key for key in rows_new if key in rows_old and key[0] in matched.rows_a]
    if not common:
        raise UsageError(
            f"{new.name} and {old.name} have no query in common (by id or text), so nothing can "
            "have moved."
        )

    def state(run: Diagnosis, at: int) -> str:
        return run.unknown[at] or run.classes[at] or FINE

    states = {key: (state(second, rows_old[key]), state(first, rows_new[key])) for key in common}
    # A sample whose headline is unscored in one run did not come to be fine, or cease to be.
    decided = [key for key in common if "unscored" not in states[key]]
    before, after = ([states[key][run] for key in decided] for run in (0, 1))
    rated = [REFUSAL not in states[key] for key in decided]
    used = [first.headline, *(name for metrics in first.sources.values() for name in metrics)]
    measured = new.summary.metrics.keys() & old.summary.metrics.keys()
    both = [name for name in dict.fromkeys(used) if name in measured]
    unlike_metrics = incomparable_metrics(new, old, both)
    unlike_queries, left_out = (matched.unlike_queries(left_out=is_out) for is_out in (False, True))
    own = any(nuggets_of(run, name) == OWN_NUGGETS for run in (new, old) for name in both)
    unlike_nuggets = [Note("own_nuggets")] if own else []
    not_alike = tuple(dict.fromkeys(map(str, (*unlike_metrics, *unlike_queries, *unlike_nuggets))))
    occurring = [
        fault for fault in (*CLASSES, UNEXPLAINED) if fault.name in after or fault.name in before
    ]
    codes = sample_clusters(new.columns)
    clusters = None if codes is None else codes[[rows_new[key] for key in decided]]
    level = first.level

    def tested(names: Sequence[str], mask: Any = True) -> list[PairedResult]:
        now, then = (
            np.array([[name == fault for fault in side] for name in names], dtype=np.float64)
            for side in (after, before)
        )
        options: dict[str, Any] = {"clusters": clusters, "level": level}
        mask = np.broadcast_to(mask, now.shape)
        return compare_pairs(now, then, mask=mask, spans=[(0.0, 1.0)] * len(names), **options)

    tests = tested([fault_class.name for fault_class in occurring]) if occurring else []
    hints = {found.fault.name for run in (first, second) for found in run.found if found.only_hint}
    classes = tuple(
        MovedClass(
            fault_class.name, fault_class.title, after.count(fault_class.name),
            before.count(fault_class.name), test.wins, test.losses, test.diff, test.low, test.high,
            *((None, None) if not_alike else (test.p_value, test.p_adjusted)),
            fault_class.name in hints,
        )
        for fault_class, test in zip(occurring, tests, strict=True)
    )  # fmt: skip
    # Of classes that moved as far, the one that grew comes first.
    classes = tuple(sorted(classes, key=lambda row: (-abs(row.diff or 0.0), -(row.diff or 0.0))))
    right = None
    if first.measures in RIGHT and not not_alike and any(rated):
        # A finding is a verdict where it is one without the samples that fail by a doubtful judge.
        sides = (first.doubtful, rows_new), (second.doubtful, rows_old)
        firm = [not any(fails[rows[key]] for fails, rows in sides) for key in decided]
        (test,), (alone,) = tested([FINE], rated), tested([FINE], np.logical_and(rated, firm))
        found, shown = (
            result.p_adjusted is not None and result.p_adjusted <= alpha_of(level)
            for result in (test, alone)
        )
        by_hint = found and (not shown or (alone.diff or 0.0) * (test.diff or 0.0) <= 0.0)
        better = (test.diff or 0.0) > 0.0
        worst = _at_worst((first, rows_new, new), (second, rows_old, old), common, better)
        undone = found and not (
            (worst.diff or 0.0) * (test.diff or 0.0) > 0.0
            and (worst.p_adjusted or 0.0) <= alpha_of(level)
        )
        said = RIGHT[first.measures].capitalize()  # a sentence begins with it
        test = replace(test, doubt="left out") if undone else test
        right = Difference(
            **vars(test), name=RIGHT[first.measures], significant_adjusted=found,
            standing="indicative" if by_hint else "tested",
            why=Note("offline_hint", names=(said,)) if by_hint else None,
        )  # fmt: skip
    transitions = Counter(states[key] for key in decided)
    each = [(key[0], *states[key]) for key in decided if REFUSAL not in states[key]]
    # What both measured, and one gave no value, is the systems' doing.
    in_both = {*new.summary.metrics, *first.added} & {*old.summary.metrics, *second.added}
    unlike = tuple(
        name for name in dict.fromkeys([*first.sources, *second.sources])
        if (set(first.sources.get(name, ())) ^ set(second.sources.get(name, ()))) - in_both
    )  # fmt: skip
    return Moved(
        first, second, len(common), len(common) - len(each), level, classes,
        dict(transitions.most_common()), unlike, not_alike,
        (*(note for note in old.summary.notes if note.kind == MATCHED), *left_out), right,
        tuple((query, now) for query, was, now in each if was == FINE != now),
        tuple(query for query, was, now in each if was != FINE == now),
    )  # fmt: skip


def _at_worst(new: Side, old: Side, keys: Sequence[Any], better: bool) -> PairedResult:
    """The test of the samples that do not fail, where all scores of the headline that only one run
    lost count against what was found: that the new run is ``better``, or worse."""
    values, known, lost = list[Any](), list[Any](), list[Any]()
    for (found, rows, run), end in ((new, not better), (old, better)):
        at = [rows[key] for key in keys]
        unknown = np.array([*map(bool, found.unknown)])[at]
        owed = unknown & run.columns.owed(found.headline)[at]
        fine = np.array([fault is None for fault in found.classes])[at]
        values.append(np.where(owed, end, fine) * 1.0)
        known.append(~unknown | owed)
        lost.append(owed)
    codes = sample_clusters(new[2].columns)
    (test,) = compare_pairs(
        *values,
        mask=known[0] & known[1] & ~(lost[0] & lost[1]),
        clusters=None if codes is None else codes[[new[1][key] for key in keys]],
        spans=[(0.0, 1.0)],
        level=new[0].level,
    )
    return test


@overload
def diagnose(new: Run, **options: Any) -> Diagnosis: ...
@overload
def diagnose(new: Run, old: Run | None, **options: Any) -> Diagnosis | Moved: ...
def diagnose(new: Run, old: Run | None = None, **options: Any) -> Diagnosis | Moved:
    """Sorts the failing samples of a run into classes by its scores. With an older run, says how
    they moved between classes. No LLM is asked.

    Examples:
        >>> import ragassay
        >>> data = [
        ...     {"id": "1", "query": "Who wrote Dune?", "answer": "Frank Herbert.",
        ...      "references": ["Frank Herbert"]},
        ...     {"id": "2", "query": "Who wrote Emma?", "answer": "I do not know.",
        ...      "references": ["Jane Austen"]},
        ... ]
        >>> result = ragassay.evaluate(data, ["contains_answer", "answered", "token_f1"])
        >>> diagnosis = ragassay.diagnose(result, headline="contains_answer")
        >>> diagnosis.classes
        [None, 'refused_answerable']
        >>> diagnosis.counts
        [('refused_answerable', 'Refused without a known retrieval fault', 1)]

    Args:
        new: a result or a run folder.
        old: the run before a change, matched as by `ragassay.compare`.
        headline: the metric that says which samples fail; see `headline_of`.
        below: a sample fails if the headline metric is below this value of its range;
            the middle of the range when left out.
        thresholds: the numbers of the decision table.
        headline_only: whether samples fail by the headline alone. Otherwise an answer that is
            wrong or invented, cited wrongly or given to an unanswerable query fails in any case,
            and an answer that matches a reference in other words does not fail.
        n_examples: samples shown of each class.
        complete: compute the signals that the run lacks, offline, if it kept its samples.

    Raises:
        UsageError: data in place of a run; the run has no such metric, or none that can be the
            headline; a ``below`` out of the metric's range, or none and a metric without a range;
            the system failed for every sample; two runs without a common query.
    """
    run = opened(new)
    return diagnosis_of(run, **options) if old is None else moved(run, opened(old), **options)


def with_change(comparison: Comparison, most: int | None = MOST_SAMPLES) -> Comparison:
    """The comparison with what moved (`Comparison.change`), where that is known and the runs
    have at most so many samples."""
    runs = comparison.runs
    too_many = most and runs and max(len(run.columns) for run in runs) > most
    if comparison.change or runs is None or comparison.unpaired or too_many:
        return comparison
    try:
        change = moved(*runs)
    except UsageError:
        return comparison
    if change.right is not None and comparison.trust_offline:
        why = change.right.why and Note("offline_trusted", names=(change.right.name.capitalize(),))
        right = replace(change.right, standing="tested", why=why)
        classes = tuple(replace(row, only_hint=False) for row in change.classes)
        change = replace(change, right=right, classes=classes)
    # The slice whose share of right answers fell by more than that of all.
    found, fallen = change.right, list[Note]()
    if found and change.new.measures == "answers":
        rights = change.new.right, change.old.right
        fell = slice_of_right(MatchedRuns.of(*runs), found.name, rights, change.level)
        for note in fell:
            shares = {side: round(float(note.counts[side]), 2) for side in ("new", "old")}
            fallen = [replace(note, kind="slice_right_fell", counts={**note.counts, **shares})]
    brought = [note for note in comparison.brought if not (fallen and note.kind == "slice_fell")]
    return replace(comparison, change=change, brought=(*fallen, *brought))
