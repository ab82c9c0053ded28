"""The judges of a metric's values: the run's judge, and those that records name.

A mean over values of two judges says nothing about either. So the judge of a value is named with
it: in its row, in the metric's label and in its signature. A value that rests on several judges has
one label, theirs joined by `AND`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ragassay.base.counts import few, grouped
from ragassay.base.note import Note
from ragassay.base.score import AND, RECORD, Outcome, Score

MOST = 3
"""Most labels that a metric's own label names one by one."""

ValuesByJudge = Mapping[str, int]
"""The number of values by label of judges; `RECORD` for those of records that name no judge."""


def judges_of(outcome: Outcome, judge: str) -> str:
    """The label of the judges that an outcome rests on: those whom the record names, and the run's
    judge where it was asked; empty for arithmetic."""
    by = outcome.by if isinstance(outcome, Score) else ()
    asked = (judge,) if outcome.evidence and judge else ()
    return AND.join(sorted({*by, *asked}))


@dataclass(frozen=True, slots=True)
class Given:
    """The values of a metric that came with the records.

    Attributes:
        share: ``all`` or ``some`` of its values; empty for none.
        by: labels of the judges who gave them, sorted; empty where no record names any.
    """

    share: str = ""
    by: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that it adds to a signature."""
        if not self.share:
            return ()
        key = "judge" if self.share == "all" else "given_by"
        return (f"given={self.share}", *([f"{key}={'+'.join(self.by)}"] if self.by else []))


def given_of(n_given: int, n_scored: int, judges: ValuesByJudge, judge: str) -> Given:
    """The share of given values among the scored ones, with the judges who gave them.
    The run's judge is one of these only where all values are given."""
    if not n_given:
        return Given()
    share = "all" if n_given == n_scored else "some"
    names = tuple(name for name in names_in(judges) if share == "all" or name != judge)
    return Given(share, () if names == (RECORD,) else names)


def names_in(labels: Iterable[str]) -> tuple[str, ...]:
    """The judges that labels name, alone or with others, sorted."""
    return tuple(sorted({name for label in labels if label for name in label.split(AND)}))


def label_of(judges: ValuesByJudge) -> str:
    """The label of a metric's judges; empty where no judge is known by name.

    Where one value's label names all judges that the others name, it is that label; else a list of
    labels, each with its number of values.
    """
    labels = [label for label in judges if label]
    if not labels or labels == [RECORD]:
        return ""
    largest = max(labels, key=lambda label: (len(_names(label)), judges[label]))
    if all(_names(label) <= _names(largest) for label in labels):
        return largest
    ranked = sorted(labels, key=lambda label: -judges[label])
    listed = [f"{label.replace(AND, ' & ')} ({judges[label]:,})" for label in ranked[:MOST]]
    rest = sum(judges[label] for label in ranked[MOST:])
    return AND.join([*listed, *([f"others ({rest:,})"] if rest else [])])


def mixed(judges_of_metrics: Mapping[str, ValuesByJudge], judge: str = "") -> Iterator[Note]:
    """Notes on the metrics whose values are of different judges: one for all metrics that
    mix the same judges in the same numbers."""
    alike = grouped((_ranked(n), name) for name, n in judges_of_metrics.items() if _mixes(n, judge))
    for how, metrics in alike.items():
        yield Note("mixed_judges", {"how": how}, tuple(metrics), "warning")


def _ranked(judges: ValuesByJudge) -> str:
    """The judges in words with their numbers of values, most values first."""
    ranked = sorted(judges.items(), key=lambda item: -item[1])
    return few([f"{n:,} of {_in_words(label)}" for label, n in ranked], MOST)


def _mixes(judges: ValuesByJudge, judge: str) -> bool:
    """Whether values are of different judges.

    A value that rests on some of another value's judges (an answer without claims, whose
    conditioned value the table decides) is not of different ones, unless the run's judge is among
    those that some values have and others lack.
    """
    sets = [_names(label) for label in judges]
    largest = max(sets, key=len, default=frozenset())
    if all(one <= largest for one in sets):
        return judge in largest and any(judge not in one for one in sets)
    return True


def _in_words(label: str) -> str:
    if label == RECORD:
        return "whoever made the records"
    return " and ".join("the records" if name == RECORD else name for name in label.split(AND))


def _names(label: str) -> frozenset[str]:
    return frozenset(label.split(AND))
