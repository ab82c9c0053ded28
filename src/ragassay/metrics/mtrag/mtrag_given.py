"""How MT-RAG's values that the record brings are read.

A record has them among its ``metrics`` (as a list or a number), or as annotations of an
InspectorRAGet file. A value that is no number, or outside the metric's range, is `Unscored` with a
detail that says so.

A score is *given* (`Score.given`) where it depends on at least one value that the record brings and
on no judge's verdict: the value itself, what is computed from it (RB_agg from given BERTScores),
and what the table of `mtrag_idk_table` decides by it. A score that depends on a verdict is judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ragassay.base.errors import CountedFact
from ragassay.base.sample import Sample
from ragassay.base.score import AND, RECORD, Outcome, Reason, Score, Unscored
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.core.window import Window

GIVEN = "take the value that the record brings, where it has one"
"""Help of the parameter ``given``."""

READ = "read from the record"
"""Explanation of a value that the record brings."""

ROUNDING = 1e-6
"""Tolerance for values beyond their range, because of single precision."""


def values_of(sample: Sample, *names: str) -> list[Any] | None:
    """The values that came with the record under the first of ``names`` that it has.

    A single value is a list of one, and the text of a number (as a table's cell holds it) becomes
    that number. ``None`` where the record has none of them, or null, or a list without any value.
    """
    for name in names:
        value = sample.given.get(name)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if any(one is not None for one in values):
            return [_number(one) if isinstance(one, str) else one for one in values]
    return None


def givers(sample: Sample, *names: str) -> tuple[str, ...]:
    """Who gave the value that `values_of` reads: labels of judges, or `RECORD` where the record
    does not say."""
    for name in names:
        if values_of(sample, name) is not None:
            return tuple((sample.given_by.get(name) or RECORD).split(AND))
    return ()


def explained(sample: Sample, name: str) -> Unscored | None:
    """Why the record's value is null, where the record says so; else ``None``.

    That is the outcome then: a judge asked now could be another one than gave the values beside it.
    """
    if name not in sample.given or values_of(sample, name) is not None:
        return None
    why = sample.given_unscored.get(name)
    return None if why is None else Unscored.of_words(why)


def in_range(metric: Metric, name: str, values: Sequence[Any]) -> list[float] | Unscored:
    """Checks the values that a record gives under a name."""
    low = -math.inf if metric.low is None else metric.low - ROUNDING
    high = math.inf if metric.high is None else metric.high + ROUNDING
    for value in values:
        if not _is_number(value):
            return Unscored(
                Reason.UNDEFINED, f"the given {name} holds {value!r}, which is not a number"
            )
        if not low <= value <= high:
            bound = f"above {metric.high:g}" if value > high else f"below {metric.low:g}"
            return Unscored(
                Reason.UNDEFINED, f"the given {name} holds {value:g}, which cannot be {bound}"
            )
    return list(values)


def impossible(metric: Metric, name: str, n: int, rule: str = "") -> CountedFact:
    """The remark that records bring values that a metric cannot have."""
    if metric.low is None or metric.high is None:
        within = "" if metric.high is None else f" of at most {metric.high:g}"
    else:
        within = f" from {metric.low:g} to {metric.high:g}"
    return CountedFact(
        f"{{n}} given {{value|values}} of {name} {{is|are}} impossible ({name} is "
        f"{rule or f'a number{within}'}). {{It was|They were}} not taken: a score stands "
        "there only where other values of the record give it.",
        n,
    )


def bounded(metric: Metric, value: float) -> float:
    """The value, or the bound of the metric's range that it exceeds by a rounding error."""
    value = value if metric.low is None else max(value, metric.low)
    return value if metric.high is None else min(value, metric.high)


def read(value: float, **parts: Any) -> Score:
    """The score of a value that the record brings."""
    return Score(value, parts, READ, given=True)


def given_value(metric: Metric, sample: Sample, *names: str) -> float | Unscored | None:
    """The value that the record brings, the first of several; `Unscored` where it is not possible,
    ``None`` where there is none."""
    values = values_of(sample, *names)
    if values is None:
        return None
    checked = in_range(metric, names[0], values[:1])
    return checked if isinstance(checked, Unscored) else bounded(metric, checked[0])


class Given(Metric):
    """A metric whose value a record may bring.

    Class attributes:
        published: names of the value in a record; the first that it has counts.
        rule_of_value: what the value should be, where that is not every number in the range.
    """

    given: bool
    published: ClassVar[tuple[str, ...]] = ()
    rule_of_value: ClassVar[str] = ""

    def brought(self, sample: Sample) -> Outcome | None:
        """The outcome by `given_value`."""
        value = given_value(self, sample, *self.published) if self.given else None
        if value is None or isinstance(value, Unscored):
            return value
        return self.read_score(value, sample)

    def read_score(self, value: float, sample: Sample) -> Score:
        """The score of a value that the record brings."""
        return read(value)

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many records bring an impossible value."""
        if not self.published:
            return []
        n = sum(
            values_of(sample, *self.published) is not None
            and isinstance(self.brought(sample), Unscored)
            for sample in window.samples
        )
        return [impossible(self, self.published[0], n, self.rule_of_value)]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _is_number(value: Any) -> bool:
    """Whether a given value is a finite number (flags are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
