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
from collections.abc import Callable, Sequence
from typing import Any

from ragassay.base.errors import CountedFact
from ragassay.base.sample import Sample
from ragassay.base.score import AND, RECORD, Outcome, Reason, Score, Unscored
from ragassay.metrics.core.metric import Metric

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

    Args:
        sample: the sample.
        *names: names of the value.
    """
    for name in names:
        value = sample.given.get(name)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if any(one is not None for one in values):
            return [_number(one) if isinstance(one, str) else one for one in values]
    return None


def givers(sample: Sample, *names: str) -> tuple[str, ...]:
    """Who gave the value that `values_of` reads: labels of judges, or `RECORD` where the record
    does not say.

    Args:
        sample: the sample.
        *names: names of the value; the first that the record has counts.
    """
    for name in names:
        if values_of(sample, name) is not None:
            return tuple((sample.given_by.get(name) or RECORD).split(AND))
    return ()


def explained(sample: Sample, name: str) -> Unscored | None:
    """Why the record's value is null, where the record says so; else ``None``.

    That is the outcome then: a judge asked now could be another one than gave the values beside it.

    Args:
        sample: the sample.
        name: the value's name.
    """
    if name not in sample.given or values_of(sample, name) is not None:
        return None
    why = sample.given_unscored.get(name)
    return None if why is None else Unscored.of_words(why)


def in_range(metric: Metric, name: str, values: Sequence[Any]) -> list[float] | Unscored:
    """Checks the values that a record gives under a name.

    Args:
        metric: the metric whose range counts.
        name: the name of the values in the record.
        values: the values.

    Returns:
        The values where all are finite numbers in the metric's range, else `Unscored`.
    """
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
    """The remark that records bring values that a metric cannot have.

    Args:
        metric: the metric.
        name: the name of the values in the records.
        n: how many of them are impossible.
        rule: what they should be; by default a number in the metric's range.
    """
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
    """The value, or the bound of the metric's range that it exceeds by a rounding error.

    Args:
        metric: the metric whose range counts.
        value: beyond it by no more than `ROUNDING`.
    """
    value = value if metric.low is None else max(value, metric.low)
    return value if metric.high is None else min(value, metric.high)


def read(value: float, **parts: Any) -> Score:
    """The score of a value that the record brings.

    Args:
        value: the record's value, within the metric's range.
        **parts: the parts of the score, by name.
    """
    return Score(value, parts, READ, given=True)


def given_value(
    metric: Metric,
    sample: Sample,
    *names: str,
    made: Callable[[float, Sample], Score] = lambda value, _: read(value),
) -> Outcome | None:
    """The outcome by the value that the record brings.

    Args:
        metric: the metric whose range counts.
        sample: the sample.
        *names: names of the value; of several values under a name the first counts.
        made: makes the score.

    Returns:
        `Unscored` where the value is not possible; ``None`` where there is none.
    """
    values = values_of(sample, *names)
    if values is None:
        return None
    checked = in_range(metric, names[0], values[:1])
    if isinstance(checked, Unscored):
        return checked
    return made(bounded(metric, checked[0]), sample)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _is_number(value: Any) -> bool:
    """Whether a given value is a finite number (flags are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
