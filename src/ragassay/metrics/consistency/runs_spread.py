"""How much a metric's scores vary over the runs of a query.

Metrics of consistency score group samples: samples that hold the runs of one query by one system
(`Sample.runs`), and under ``given`` what the other metrics said of each run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from ragassay.base.printable import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored, Value
from ragassay.metrics.core.metric import Metric, Window, define, not_applicable, param, register
from ragassay.stats.repeats import spread

SCORES, UNSCORED = "scores", "unscored"
"""Where ``given`` of a group holds the runs' values by metric, and why some have none."""


class RunsMetric(Metric):
    """A metric over the runs of a query; it needs two runs at least."""

    family = "consistency"
    needs = ("runs",)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where the query was run only once."""
        lacking = super().lacks(sample)
        if lacking is None and len(sample.runs) < 2:
            return not_applicable("the query was run once only, and consistency needs two runs")
        return lacking


Values = Sequence[Value | None]
"""A metric's values in the runs of a query; ``None`` where it is unscored."""


def _known(values: Values) -> list[Value]:
    return [value for value in values if value is not None]


def scores_of(sample: Sample, of: str) -> Values | Unscored:
    """The values that a metric has in the runs of a group; `Unscored` where fewer than two runs
    have one, with the commonest reason of the others."""
    values_of = sample.given.get(SCORES)
    values = values_of.get(of) if isinstance(values_of, dict) else None
    if not isinstance(values, list | tuple):
        return Unscored(Reason.MISSING_INPUT, f"the group brings no scores of {of!r}")
    n = len(_known(values))
    if n >= 2:
        return values
    unscored = sample.given.get(UNSCORED)
    reasons = Counter(filter(None, unscored.get(of) or ()) if isinstance(unscored, dict) else ())
    counts = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in reasons.items())
    # Where most of the runs are unscored for one reason, so is what would be said of all.
    most = reasons.most_common(1)[0][0] if reasons else ""
    reason = Reason(most) if most in set(Reason) else Reason.MISSING_INPUT
    why = f" ({counts})" if counts else ""
    return Unscored(
        reason,
        f"{share(n, len(values), 'run')} {either(n, 'has', 'have')} a score of {of}{why}, "
        "and two are needed",
    )


@dataclass(frozen=True)
class OfMetric(RunsMetric):
    """A figure computed from the scores that another metric gave to the runs of a query.

    Class attributes:
        stat: its name in short.

    Source: Open RAG Eval, metrics page (consistency)
    """

    of: str = param("", "the metric whose scores are looked at; each in turn when left out")

    stat: ClassVar[str]

    @property
    def about(self) -> str:
        """The title with the metric's name."""
        return f"{self.of}: {self.title}" if self.of else self.title

    def score_window(self, window: Window) -> Sequence[Outcome]:
        return [
            self.lacks(sample) or self.figure(scores_of(sample, self.of))
            for sample in window.samples
        ]

    @abstractmethod
    def figure(self, values: Values | Unscored) -> Outcome:
        """The outcome for the values of a group."""

    def scored(self, value: float, values: Values, kind: str = "score") -> Score:
        """A score, with a note on how many runs it is computed from."""
        n, all_of = len(_known(values)), len(values)
        note = "" if n == all_of else f"over the {n} of {all_of} runs that have a {kind}"
        return Score(value, {"values": list(values), "n": n}, note)


class SpreadMetric(OfMetric):
    """A statistic of the scores that a metric gave to the runs of a query.

    Unscored runs are left out, two scores at least must remain, and a note says how many do. The
    name after ``runs_`` is a field of `Spread`.
    """

    def figure(self, values: Values | Unscored) -> Outcome:
        if isinstance(values, Unscored):
            return values
        numbers = [float(number) for number in _known(values) if not isinstance(number, str | list)]
        if len(numbers) < len(_known(values)):
            return not_applicable(f"{self.of} says labels, and labels have no spread")
        try:
            value = getattr(spread(numbers), self.name.removeprefix("runs_"))
        except ValueError as error:
            return Unscored(Reason.UNDEFINED, f"{self.of}: {error}")
        if value is None:
            why = f"the mean of {self.of} is 0 (or too near it) to take a share of"
            return Unscored(Reason.UNDEFINED, why)
        return self.scored(value, values)


_TOOL = "Open RAG Eval, as its tool computes it"
_FREE: Mapping[str, Any] = {"low": None, "high": None, "higher_is_better": None}
_LESS: Mapping[str, Any] = {"high": None, "higher_is_better": False}
for _stat, _field, _title, _formula, _misleads, _source, _facts in (
    (
        *("mean", "mean", "mean over the runs of a query", "Σ values / runs"),
        *("hides how far the runs differ", OfMetric.source, _FREE),
    ),
    (
        *("variance", "variance", "sample variance (n - 1) over the runs of a query"),
        *("Σ (value - mean)² / (n - 1)", "in squared units", OfMetric.source, _LESS),
    ),
    (
        *("cv", "cv"),
        "coefficient of variation (sample standard deviation over mean) over a query's runs.\n\n"
        "Unscored where the mean is 0",
        "sample standard deviation / |mean|",
        *("grows without bound as the mean nears 0", OfMetric.source, _LESS),
    ),
    (
        *("median", "median", "median over the runs of a query", "middle value of the runs"),
        *("hides how far the runs differ", _TOOL, _FREE),
    ),
    (
        *("std", "std", "population standard deviation over the runs of a query"),
        "square root of Σ (value - mean)² / n",
        *("too small for few runs, because it divides by n", _TOOL, _LESS),
    ),
    (
        *("max_min", "range", "highest minus lowest over the runs of a query", "highest - lowest"),
        *("grows with the number of runs", _TOOL, _LESS),
    ),
    (
        *("iqr", "iqr"),
        "interquartile range over the runs of a query.\n\nThe percentiles are numpy's",
        "75th percentile - 25th percentile",
        *("for few runs it is mostly interpolation", _TOOL, _LESS),
    ),
    (
        *("consistency_adjusted_index", "cai"),
        "consistency-adjusted index, mean / (1 + std), over the runs of a query.\n\n"
        "It says more about the mean than about consistency: scores of 0, 0.5 and 1 have 0.3551, "
        "scores of 0.35, 0.36 and 0.36 have 0.3550. The coefficient of variation tells the two "
        "apart",
        "mean / (1 + population standard deviation)",
        "says more about the mean than about consistency; take runs_cv",
        *(_TOOL, {"low": None, "high": None}),
    ),
):
    _sections = f"Formula: {_formula}\nMisleads where: {_misleads}\nSource: {_source}"
    define(f"runs_{_field}", SpreadMetric, f"{_title}.\n\n{_sections}", stat=_stat, **_facts)


@register
class RunsFlip(OfMetric):
    """share of queries whose verdict differs between runs.

    Formula: 1 if the runs of a query disagree on a verdict, else 0
    Misleads where: more runs find more flips; compare equal numbers of runs
    Source: our own
    """

    name, stat = "runs_flip", "flip"
    higher_is_better = False

    def figure(self, values: Values | Unscored) -> Outcome:
        if isinstance(values, Unscored):
            return values
        differ = any(one != other for one, other in pairwise(_known(values)))
        return self.scored(float(differ), values, "verdict")
