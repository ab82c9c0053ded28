"""What the metrics of consistency share, and how much a metric's scores vary over repeated runs.

They score group samples: samples that hold the runs of one query by one system (`Sample.runs`), and
under ``given`` what the other metrics said of each run. ``ragassay run --suite consistency`` makes
them. Mean, variance and coefficient of variation, Open RAG Eval's own statistics, and whether a
verdict flips are separate metrics; ``of`` names the metric whose scores they look at.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

from ragassay.base.counts import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored, Value
from ragassay.metrics.citation.citation_parser import text_for_models
from ragassay.metrics.core.metric import Metric, not_applicable, register
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window
from ragassay.stats.repeats import Spread, spread

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


class AnswersMetric(RunsMetric):
    """A metric that compares the answers of a query's runs, in pairs. Citation marks that Open RAG
    Eval sees (``[1]``, ``[1, 2]``) are no words of an answer.

    Formula: mean over all pairs of a query's answers
    Misleads where: consistent is not right; two answers "I do not know" agree perfectly
    """

    version = 2


V = TypeVar("V")
W = TypeVar("W")


@dataclass(frozen=True)
class Pairs(Generic[V]):
    """What is known of each pair of a query's runs (``None`` where the two cannot be compared),
    with the ``repeat`` of both, the earlier one first, and a note for a reader of the mean."""

    repeats: Sequence[tuple[int, int]]
    each: Sequence[V]
    note: str = ""

    def outcome(self, undefined: Unscored, part: str = "") -> Outcome:
        """The mean over the pairs that have a value, with all values as parts; ``undefined`` where
        none has one. ``part`` is the field that counts, where each pair has several."""
        number: Callable[[Any], float] = attrgetter(part) if part else lambda value: value
        values = [None if one is None else number(one) for one in self.each]
        known = [value for value in values if value is not None]
        if not known:
            return undefined
        left_out = len(values) - len(known)
        why = f"{left_out} of {len(values)} pairs cannot be compared: {undefined.detail}"
        parts = {"pairs": [list(pair) for pair in self.repeats], "values": values}
        note = "; ".join(filter(None, (self.note, why if left_out else "")))
        return Score(sum(known) / len(known), parts, note)


class PairsMetric(RunsMetric):
    """A metric that is the mean over all pairs of a query's runs.

    Class attributes:
        undefined: what comes out where no two runs can be compared.
    """

    undefined: ClassVar[Unscored]

    def score_window(self, window: Window) -> Sequence[Outcome]:
        part = getattr(self, "part", "")
        return [
            self.lacks(sample)
            or (group if isinstance(group, Unscored) else group.outcome(self.undefined, part))
            for sample, group in zip(window.samples, self.compared(window), strict=True)
        ]

    @abstractmethod
    def compared(self, window: Window) -> Sequence[Pairs[Any] | Unscored]:
        """The values of all pairs, for each group; `Unscored` where it has too few runs."""


def in_pairs(
    sample: Sample,
    has: Callable[[Sample], bool],
    what: str,
    items: Callable[[list[Sample]], tuple[Sequence[V], str] | Unscored],
) -> Pairs[tuple[V, V]] | Unscored:
    """The runs of a group in pairs; `Unscored` where fewer than two of them have what is compared.

    ``items`` turns the runs that have it, the earliest first, into one item each and a note.
    """
    runs = sorted(filter(has, sample.runs), key=lambda run: run.repeat)
    n, all_of = len(runs), len(sample.runs)
    if n < 2:
        failures = {run.failure for run in sample.runs if run.failure}
        why = f" (the system failed: {', '.join(sorted(failures))})" if failures else ""
        detail = f"{share(n, all_of, 'run')} {either(n, 'has', 'have')} {what}{why}"
        return Unscored(Reason.MISSING_INPUT, detail)
    found = items(runs)
    if isinstance(found, Unscored):
        return found
    left_out = "" if n == all_of else f"over the {n} of {all_of} runs that have {what}"
    repeats = list(combinations((run.repeat for run in runs), 2))
    notes = "; ".join(filter(None, (left_out, found[1])))
    return Pairs(repeats, list(combinations(found[0], 2)), notes)


def answers_in_pairs(
    samples: Sequence[Sample], items: Callable[[list[str]], Sequence[V]]
) -> list[Pairs[tuple[V, V]] | Unscored]:
    """The answers of each group in pairs; ``items`` turns their texts into what is compared."""

    def of(runs: list[Sample]) -> tuple[Sequence[V], str]:
        return items([answer_text(run) for run in runs]), ""

    return [in_pairs(one, lambda run: run.answer is not None, "an answer", of) for one in samples]


def compare(
    groups: Sequence[Pairs[tuple[V, V]] | Unscored], alike: Callable[[V, V], W]
) -> list[Pairs[W] | Unscored]:
    """How similar the earlier and the later run of each pair are."""
    return [
        group
        if isinstance(group, Unscored)
        else Pairs(group.repeats, [alike(*pair) for pair in group.each], group.note)
        for group in groups
    ]


def answer_text(run: Sample) -> str:
    """The text of a run's answer that is compared with other runs; empty without an answer."""
    return "" if run.answer is None else text_for_models(run.answer).strip()


Values = Sequence[Value | None]
"""Of a metric in the runs of a query; ``None`` where it is unscored."""


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
            self.lacks(sample) or self.figure(window, at, scores_of(sample, self.of))
            for at, sample in enumerate(window.samples)
        ]

    @abstractmethod
    def figure(self, window: Window, at: int, values: Values | Unscored) -> Outcome:
        """The outcome for the values of the group ``at``."""

    def scored(self, value: float, values: Values, kind: str = "score") -> Score:
        """A score, with a note on how many runs it is computed from."""
        n, all_of = len(_known(values)), len(values)
        note = "" if n == all_of else f"over the {n} of {all_of} runs that have a {kind}"
        return Score(value, {"values": list(values), "n": n}, note)


def _spreads(window: Window, of: str) -> list[Spread | Unscored]:
    """The statistics of a metric's scores in each group."""
    return [_spread(scores_of(sample, of), of) for sample in window.samples]


def _spread(values: Values | Unscored, of: str) -> Spread | Unscored:
    if isinstance(values, Unscored):
        return values
    numbers = [float(value) for value in _known(values) if not isinstance(value, str | list)]
    if len(numbers) < len(_known(values)):
        return not_applicable(f"{of} says labels, and labels have no spread")
    try:
        return spread(numbers)
    except ValueError as error:
        return Unscored(Reason.UNDEFINED, f"{of}: {error}")


class SpreadMetric(OfMetric):
    """A statistic of the scores that a metric gave to the runs of a query.

    Unscored runs are left out, two scores at least must remain, and a note says how many do. The
    name after ``runs_`` is a field of `ragassay.stats.Spread`.
    """

    def figure(self, window: Window, at: int, values: Values | Unscored) -> Outcome:
        statistics = window.once(_spreads, self.of)[at]
        if isinstance(values, Unscored):
            return values
        if isinstance(statistics, Unscored):
            return statistics
        value = getattr(statistics, self.name.removeprefix("runs_"))
        if value is None:
            why = f"the mean of {self.of} is 0 (or too near it) to take a share of"
            return Unscored(Reason.UNDEFINED, why)
        return self.scored(value, values)


@register
class RunsMean(SpreadMetric):
    """mean over the runs of a query.

    Formula: Σ values / runs
    Misleads where: hides how far the runs differ
    """

    name, stat = "runs_mean", "mean"
    low = high = higher_is_better = None


@register
class RunsVariance(SpreadMetric):
    """sample variance (n - 1) over the runs of a query.

    Formula: Σ (value - mean)² / (n - 1)
    Misleads where: in squared units
    """

    name, stat = "runs_variance", "variance"
    high, higher_is_better = None, False


@register
class RunsCv(SpreadMetric):
    """coefficient of variation (sample standard deviation over mean) over a query's runs.

    Unscored where the mean is 0.

    Formula: sample standard deviation / |mean|
    Misleads where: grows without bound as the mean nears 0
    """

    name, stat = "runs_cv", "cv"
    high, higher_is_better = None, False


@register
class RunsMedian(SpreadMetric):
    """median over the runs of a query.

    Formula: middle value of the runs
    Misleads where: hides how far the runs differ
    Source: Open RAG Eval, as its tool computes it
    """

    name, stat = "runs_median", "median"
    low = high = higher_is_better = None


@register
class RunsStd(SpreadMetric):
    """population standard deviation over the runs of a query.

    Formula: square root of Σ (value - mean)² / n
    Misleads where: too small for few runs, because it divides by n
    Source: Open RAG Eval, as its tool computes it
    """

    name, stat = "runs_std", "std"
    high, higher_is_better = None, False


@register
class RunsRange(SpreadMetric):
    """highest minus lowest over the runs of a query.

    Formula: highest - lowest
    Misleads where: grows with the number of runs
    Source: Open RAG Eval, as its tool computes it
    """

    name, stat = "runs_range", "max_min"
    high, higher_is_better = None, False


@register
class RunsIqr(SpreadMetric):
    """interquartile range over the runs of a query.

    The percentiles are numpy's.

    Formula: 75th percentile - 25th percentile
    Misleads where: of few runs it is mostly interpolation
    Source: Open RAG Eval, as its tool computes it
    """

    name, stat = "runs_iqr", "iqr"
    high, higher_is_better = None, False


@register
class RunsCai(SpreadMetric):
    """consistency-adjusted index, mean / (1 + std), over the runs of a query.

    It says more about the mean than about consistency: scores of 0, 0.5 and 1 have 0.3551, scores
    of 0.35, 0.36 and 0.36 have 0.3550. The coefficient of variation tells the two apart.

    Formula: mean / (1 + population standard deviation)
    Misleads where: says more about the mean than about consistency; take runs_cv
    Source: Open RAG Eval, as its tool computes it
    """

    name, stat = "runs_cai", "consistency_adjusted_index"
    low = high = None


@register
class RunsFlip(OfMetric):
    """share of queries whose verdict is not the same in all runs.

    Formula: 1 if the runs of a query disagree on a verdict, else 0
    Misleads where: more runs find more flips; compare equal numbers of runs
    Source: our own
    """

    name, stat = "runs_flip", "flip"
    higher_is_better = False

    def figure(self, window: Window, at: int, values: Values | Unscored) -> Outcome:
        if isinstance(values, Unscored):
            return values
        return self.scored(float(len(set(_known(values))) > 1), values, "verdict")
