"""The scores of a run in columns (twelve bytes a score stay in memory), and who judged the values
of a metric: the run's judge, and those that records name. A value that rests on several judges has
one label, theirs joined by `AND`."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.base.note import Note
from ragassay.base.printable import few, grouped
from ragassay.base.sample import Identity, Sample
from ragassay.base.score import (
    AND,
    RECORD,
    Outcome,
    Reason,
    Score,
    Unscored,
    label_of as label_of_value,
)
from ragassay.engine.results.slicing import numbers_of

Mask = NDArray[np.bool_]
OWED = frozenset(
    reason
    for reason in Reason
    if reason is Reason.MISSING_INPUT or reason.incomplete or reason.by_system
)
"""Reasons for which a score is owed: the system or the judge gave nothing to measure. Other reasons
are facts about the query."""


class _Kind(NamedTuple):
    """All of a score but its number; most scores of a run are of a few kinds."""

    judges: str
    given: bool = False
    assumed: bool = False
    label: str | None = None
    reason: Reason | None = None


class Tally(NamedTuple):
    """How many scores of a metric are values, how many of these the records brought, and how many
    there are of each reason for none, of each label, and of each label of judges (see `label_of`;
    arithmetic has none); the most frequent first."""

    n_scored: int
    n_given: int
    reasons: dict[str, int]
    labels: dict[str, int]
    judges: dict[str, int]


class ScoreColumns:
    """The numbers of all scores: a float and the number of its kind for each sample and metric.

    Methods take the shown name of a metric, and some a mask of the samples that count, shape
    ``(n_samples,)``. ``metrics`` are these names, in the order asked for. ``slices`` has each
    sample's value of each slicing column, ``clusters`` each sample's cluster where clustering was
    asked for, ``asked`` and ``replies`` are the numbers of
    `ragassay.engine.results.slicing`."""

    def __init__(self, metrics: Iterable[str]) -> None:
        self.identities: list[Identity] = []
        self.slices: dict[str, list[str | None]] = {}
        self.clusters: list[str] | None = None
        self.asked = array("Q")
        self.replies = array("Q")
        self.metrics = list(metrics)
        self._values = {name: array("d") for name in self.metrics}
        self._codes = {name: array("I") for name in self._values}
        self._kinds: list[_Kind] = []
        self._code_of: dict[_Kind, int] = {}

    def __len__(self) -> int:
        return len(self.identities)

    @property
    def n_queries(self) -> int:
        """How many queries the samples have."""
        return len({query for query, _, _ in self.identities})

    @property
    def systems(self) -> list[str]:
        """The systems, in order of first appearance."""
        return list(dict.fromkeys(system for _, system, _ in self.identities))

    @property
    def rows_by_query(self) -> Mapping[str, list[int]]:
        """Row numbers of each query id, in order of first appearance."""
        return grouped((query, row) for row, (query, _, _) in enumerate(self.identities))

    def add_sample(self, sample: Sample) -> None:
        """Appends a sample; its outcomes are added with `add`."""
        self.identities.append(sample.identity)
        asked, reply = numbers_of(sample)
        self.asked.append(asked)
        self.replies.append(reply)

    def add(self, metric: str, outcome: Outcome, judge: str = "") -> None:
        """Appends a sample's outcome to a metric's column."""
        number, judges = 0.0, judges_of(outcome, judge)
        if isinstance(outcome, Unscored):
            kind = _Kind(judges, reason=outcome.reason)
        elif isinstance(outcome.value, str | list):
            kind = _Kind(judges, outcome.given, label=label_of_value(outcome.value))
        else:
            number, kind = float(outcome.value), _Kind(judges, outcome.given, outcome.assumed)
        code = self._code_of.setdefault(kind, len(self._kinds))
        if code == len(self._kinds):
            self._kinds.append(kind)
        self._values[metric].append(number)
        self._codes[metric].append(code)

    def take(self, rows: NDArray[np.int64]) -> ScoreColumns:
        """The same columns for some of the samples, by row number."""
        copied, chosen = copy(self), rows.tolist()
        copied.identities = [self.identities[at] for at in chosen]
        copied.slices = {n: [values[at] for at in chosen] for n, values in self.slices.items()}
        if self.clusters is not None:
            copied.clusters = [self.clusters[at] for at in chosen]
        copied.asked = array("Q", [self.asked[at] for at in chosen if self.asked])
        copied.replies = array("Q", [self.replies[at] for at in chosen if self.replies])
        copied._values = {n: array("d", self.values(n)[rows].tobytes()) for n in self.metrics}
        copied._codes = {
            n: array("I", [codes[at] for at in chosen]) for n, codes in self._codes.items()
        }
        return copied

    def renamed(self, names: Mapping[str, str]) -> ScoreColumns:
        """The same columns, with some of the metrics under other names; nothing is copied."""
        copied = copy(self)
        copied.metrics = [names.get(name, name) for name in self.metrics]
        copied._values = {names.get(name, name): column for name, column in self._values.items()}
        copied._codes = {names.get(name, name): column for name, column in self._codes.items()}
        return copied

    def owed(self, metric: str) -> Mask:
        """Which samples could have any value in the metric's range, because the system or the judge
        gave nothing to measure, shape ``(n_samples,)``: those unscored for a reason that is
        `OWED`, and those with a number where a mean would run over none (`averaged`)."""
        without_mean = self.scored(metric) & ~self.averaged(metric)
        return self.unscored(metric, OWED) | without_mean

    def unscored(self, metric: str, reasons: Iterable[Reason]) -> Mask:
        """Where a score is missing for one of these reasons, shape ``(n_samples,)``."""
        chosen = set(reasons)
        return self._where(metric, lambda kind: kind.reason in chosen)

    def scored(self, metric: str) -> Mask:
        """Which samples have a number, shape ``(n_samples,)``."""
        return self._where(metric, lambda kind: kind.label is None and kind.reason is None)

    def averaged(self, metric: str, mask: Mask | None = None) -> Mask:
        """Which samples a mean runs over, shape ``(n_samples,)``: those with a number, none where
        all of their numbers stand for missing parts."""
        scored = self.scored(metric) if mask is None else self.scored(metric) & mask
        return scored & bool((scored & ~self.assumed(metric)).any())

    def assumed(self, metric: str) -> Mask:
        """Which samples have a number that stands for a missing part, shape ``(n_samples,)``."""
        return self._where(metric, lambda kind: kind.assumed)

    def values(self, metric: str) -> NDArray[np.float64]:
        """The numbers, shape ``(n_samples,)``; read them only where `scored` is true."""
        return np.frombuffer(self._values[metric], dtype=np.float64)

    def tally(self, metric: str, mask: Mask | None = None) -> Tally:
        """What the scores of a metric are, counted over the samples of the mask."""
        codes = np.frombuffer(self._codes[metric], dtype=np.uint32)
        counts = np.bincount(codes if mask is None else codes[mask], minlength=len(self._kinds))
        reasons, labels, judges = Counter(dict.fromkeys(Reason, 0)), Counter[str](), Counter[str]()
        n_given = n_scored = 0
        for kind, n in zip(self._kinds, counts.tolist(), strict=True):
            if kind.reason is not None:
                reasons[kind.reason] += n
                continue
            n_scored += n
            n_given += n if kind.given else 0
            if kind.label is not None:
                labels[kind.label] += n
            if kind.judges:
                judges[kind.judges] += n
        return Tally(
            n_scored,
            n_given,
            {str(reason): n for reason, n in reasons.most_common() if n},
            {label: n for label, n in labels.most_common() if n},
            {label: n for label, n in judges.most_common() if n},
        )

    def _where(self, metric: str, holds: Callable[[_Kind], bool]) -> Mask:
        """Where a score is of one of the kinds for which a condition holds."""
        codes = np.frombuffer(self._codes[metric], dtype=np.uint32)
        return np.array([holds(kind) for kind in self._kinds], np.bool_)[codes]

    def value(self, metric: str, row: int) -> float | str | None:
        """A sample's number or label; ``None`` where it is unscored."""
        kind = self._kinds[self._codes[metric][row]]
        if kind.label is not None:
            return kind.label
        return self._values[metric][row] if kind.reason is None else None

    def reason(self, metric: str, row: int) -> Reason | None:
        """Why a sample is unscored; ``None`` where it is not."""
        return self._kinds[self._codes[metric][row]].reason


MOST = 3
"""Most judges that a note lists with their numbers of values."""

ValuesByJudge = Mapping[str, int]
"""The number of values by label of judges; `RECORD` for those of records that name no judge."""


def judges_of(outcome: Outcome, judge: str) -> str:
    """The label of the judges that an outcome rests on: those whom the record names, and the run's
    judge where it was asked; empty for arithmetic."""
    by = outcome.by if isinstance(outcome, Score) else ()
    asked = (judge,) if outcome.evidence and judge else ()
    return AND.join(sorted({*by, *asked}))


def given_parts(tally: Tally, judge: str) -> tuple[str, ...]:
    """The parts of a signature on the values that came with the records: whether all or some of
    the scored ones did, and who gave them. The run's judge is named only where all did."""
    is_all = tally.n_given == tally.n_scored
    names = [name for name in names_in(tally.judges) if is_all or name != judge]
    by = f"{'judge' if is_all else 'given_by'}={'+'.join(names)}"
    return (ALL_GIVEN if is_all else "given=some", *([] if names in ([], [RECORD]) else [by]))


ALL_GIVEN = "given=all"
"""The part of a signature where records brought all values."""


def names_in(labels: Iterable[str]) -> tuple[str, ...]:
    """The judges that labels name, alone or with others, sorted."""
    return tuple(sorted({name for label in labels if label for name in label.split(AND)}))


def label_of(judges: ValuesByJudge) -> str:
    """The label of a metric's judges; empty where none is known by name. Where one value's label
    names all that the others name, it is that label; else a list, each with its number of values.
    """
    ranked = sorted((label for label in judges if label), key=lambda label: -judges[label])
    if not ranked or ranked == [RECORD]:
        return ""
    all_of_them = AND.join(names_in(ranked))
    if all_of_them in ranked:
        return all_of_them
    listed = [f"{label.replace(AND, ' & ')} ({judges[label]:,})" for label in ranked[:MOST]]
    rest = sum(judges[label] for label in ranked[MOST:])
    return AND.join([*listed, *([f"others ({rest:,})"] if rest else [])])


def mixed(judges_of_metrics: Mapping[str, ValuesByJudge], judge: str = "") -> Iterator[Note]:
    """Notes on the metrics whose values are of different judges: one for all metrics that
    mix the same judges in the same numbers."""
    alike: dict[str, list[str]] = {}
    for name, judges in judges_of_metrics.items():
        sets = [{*label.split(AND)} for label in judges]
        largest = max(sets, key=len, default=set())
        lacks_own = judge in largest and any(judge not in one for one in sets)
        # A value that rests on some of another value's judges is not of different ones.
        if lacks_own or not all(one <= largest for one in sets):
            ranked = sorted(judges.items(), key=lambda item: -item[1])
            words = [
                (n, " and ".join("the records" if j == RECORD else j for j in label.split(AND)))
                for label, n in ranked
            ]
            listed = [f"{n:,} of {named}" for n, named in words]
            alike.setdefault(few(listed, MOST), []).append(name)
    for how, metrics in alike.items():
        yield Note("mixed_judges", {"how": how}, tuple(metrics), "warning")
