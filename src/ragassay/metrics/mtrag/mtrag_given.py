"""How MT-RAG's values that the record brings are read.

A record has them among its ``metrics`` (as a list or a number), or as annotations of an
InspectorRAGet file. A value that is no number, or outside the metric's range, is `Unscored` with a
detail that says so.

A score is *given* (`Score.given`) where it depends on at least one value that the record brings and
on no judge's verdict: the value itself, what is computed from it (RB_agg from given BERTScores),
and what the table of IDK conditioning decides by it. A score that depends on a verdict is judged.
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
    name = _present(sample, names)
    if not name:
        return None
    value = sample.given[name]
    values = value if isinstance(value, list | tuple) else [value]
    return [_number(one) if isinstance(one, str) else one for one in values]


def _present(sample: Sample, names: Iterable[str]) -> str:
    """The first of the names under which the record has a value; empty where it has none."""
    for name in names:
        value = sample.given.get(name)
        values = value if isinstance(value, list | tuple) else [value]
        if any(one is not None for one in values):
            return name
    return ""


def givers(sample: Sample, *names: str) -> tuple[str, ...]:
    """Who gave the value that `values_of` reads: labels of judges, or `RECORD` where the record
    does not say."""
    name = _present(sample, names)
    return tuple((sample.given_by.get(name) or RECORD).split(AND)) if name else ()


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


def bounded(metric: Metric, value: float) -> float:
    """The value, or the bound of the metric's range that it exceeds by a rounding error."""
    value = value if metric.low is None else max(value, metric.low)
    return value if metric.high is None else min(value, metric.high)


class Given(Metric):
    """A metric whose value a record may bring.

    Class attributes:
        published: names of the value in a record; the first that it has counts.
        rule_of_value: what the value should be, where that is not every number in the range.
    """

    given: bool
    published: ClassVar[tuple[str, ...]] = ()
    rule_of_value: ClassVar[str] = ""

    @property
    def names(self) -> tuple[str, ...]:
        """`published`, unless they depend on a parameter."""
        return self.published

    def brought(self, sample: Sample) -> Outcome | None:
        """The outcome by the record's value: `Unscored` where that is not possible, ``None`` where
        there is none or ``given`` is not set."""
        name = _present(sample, self.names) if self.given else ""
        return self.taken_over(sample, name, values_of(sample, name) or []) if name else None

    def taken_over(self, sample: Sample, name: str, values: Sequence[Any]) -> Outcome:
        """The outcome by the values that the record has under ``name``: the first of them."""
        checked = in_range(self, name, values[:1])
        if isinstance(checked, Unscored):
            return checked
        return self.read_score(bounded(self, checked[0]), sample)

    def read_score(self, value: float, sample: Sample) -> Score:
        """The score of a value that the record brings."""
        return Score(value, {}, READ, given=True)

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many records bring an impossible value."""
        if not self.names:
            return
        n = sum(
            _present(sample, self.names) != "" and isinstance(self.brought(sample), Unscored)
            for sample in window.samples
        )
        within = "" if self.high is None else f" of at most {self.high:g}"
        if self.low is not None and self.high is not None:
            within = f" from {self.low:g} to {self.high:g}"
        name = self.names[0]
        rule = self.rule_of_value or f"a number{within}"
        yield CountedFact(
            f"{{n}} given {{value|values}} of {name} {{is|are}} impossible ({name} is {rule}). "
            "{It was|They were} not taken: a score stands there only where other values of the "
            "record give it.",
            n,
        )


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _is_number(value: Any) -> bool:
    """Whether a given value is a finite number (flags are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
