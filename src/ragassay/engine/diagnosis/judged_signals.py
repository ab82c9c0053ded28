"""Who judged the signals of a diagnosis, and whether a judge's signal tells failing samples from
right ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragassay.base.sample import Answerability, Sample
from ragassay.engine.comparison.standing import judge_agreement
from ragassay.engine.diagnosis.decision_table import CLASSES, FaultClass, Thresholds
from ragassay.engine.diagnosis.signals import SignalValue
from ragassay.engine.results.summary import MetricSummary

_CHECKED = tuple(row for row in CLASSES if row.rare_in_right)


@dataclass(frozen=True)
class Judged:
    """A judge's metric that gave the signal of a class.

    Attributes:
        metric: by the name that the run shows.
        judge: how far its judge is known to agree with people, a sentence.
        n_right, of_right: of how many samples that the headline calls right the signal says the
            same, and of how many of these it says anything; ``None`` where this is not looked at.
    """

    metric: str
    judge: str
    n_right: int | None = None
    of_right: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The metric as JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class NotTelling:
    """A judge's signal that was left out, because it says the same of at least half of the samples
    that the headline calls right.

    Attributes:
        fault: the class that it would give.
        judged: the signal's metric.
    """

    fault: FaultClass
    judged: Judged

    def to_json(self) -> dict[str, Any]:
        """The signal as JSON."""
        return {"class": self.fault.name, **self.judged.to_json()}


class JudgedSignals:
    """The judges' signals of a run: how often each reports a fault in samples that are right.

    Checked are only signals of classes that a right sample is seldom in
    (`FaultClass.rare_in_right`), by a judge whose agreement with people is not known or not
    sufficient.

    Args:
        metrics: of the run's summary, by shown name.
    """

    def __init__(self, metrics: Mapping[str, MetricSummary]) -> None:
        judged = {
            name: found
            for name, metric in metrics.items()
            if (found := judge_agreement(metric)) is not None
        }
        self._figures = {name: str(one.note) for name, one in judged.items()}
        self._doubtful = {name for name, one in judged.items() if not one.sufficient}
        self._says: Counter[tuple[str, str]] = Counter()
        self._of: Counter[tuple[str, str]] = Counter()

    def are_checked(self, names: Mapping[str, list[str]]) -> bool:
        """Whether any signal of the run has to be counted.

        Args:
            names: the names that the run shows, by canonical name.
        """
        metrics = {shown for row in _CHECKED for shown in row.needs[0][0].given_by(names)}
        return bool(metrics & self._doubtful)

    def add_right(
        self, signals: Mapping[str, SignalValue], sample: Sample, limits: Thresholds
    ) -> None:
        """Counts the signals of a sample that the headline calls right."""
        if sample.answerability is Answerability.UNANSWERABLE:
            return
        for row, signal, one in _checked(signals):
            if one.metric in self._doubtful:
                self._of[row.name, one.metric] += 1
                self._says[row.name, one.metric] += row.holds({signal: one.value}, sample, limits)

    def telling(
        self, signals: Mapping[str, SignalValue], sample: Sample, limits: Thresholds
    ) -> dict[str, SignalValue]:
        """The signals of a sample that tell failing samples from right ones."""
        telling = dict(signals)
        for row, signal, one in _checked(signals):
            idle = self._tells_nothing(row, one.metric)
            if idle and row.holds({signal: one.value}, sample, limits):
                telling.pop(signal, None)
        return telling

    def not_telling(self) -> Iterator[NotTelling]:
        """The signals that were left out, in the order of the table."""
        for row in _CHECKED:
            for name, metric in self._of:
                if name == row.name and self._tells_nothing(row, metric):
                    yield NotTelling(row, self.judged(row, metric))

    def metrics_of(self, fault: FaultClass, signals: Mapping[str, SignalValue]) -> Iterator[str]:
        """The judges' metrics whose signals put a sample into a class."""
        for group in fault.needs:
            value = next((signals[one.name] for one in group if one.name in signals), None)
            if value is not None and value.metric in self._figures:
                yield value.metric

    def judged(self, fault: FaultClass, metric: str) -> Judged:
        """Who judged a metric that gives the signal of a class."""
        if not (fault.rare_in_right and metric in self._doubtful):
            return Judged(metric, self._figures[metric])
        key = fault.name, metric
        return Judged(metric, self._figures[metric], self._says[key], self._of[key])

    def _tells_nothing(self, row: FaultClass, metric: str) -> bool:
        key = row.name, metric
        return 0 < self._of[key] <= 2 * self._says[key]


def _checked(signals: Mapping[str, SignalValue]) -> Iterator[tuple[FaultClass, str, SignalValue]]:
    """The rows that are checked, each with its signal where the sample has it."""
    for row in _CHECKED:
        signal = row.needs[0][0].name
        if signal in signals:
            yield row, signal, signals[signal]
