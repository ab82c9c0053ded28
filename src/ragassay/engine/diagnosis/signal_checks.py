"""Which signals of a run tell failing samples from right ones, who judged them, and which are
missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.base.sample import Answerability, Sample
from ragassay.engine.comparison.verdict_rules import judge_agreement
from ragassay.engine.diagnosis.decision_table import CLASSES, FaultClass, Thresholds
from ragassay.engine.diagnosis.signals import Signal, SignalValue, canonical_name
from ragassay.engine.results.summary import MetricSummary
from ragassay.metrics.citation import citation_parser

_CHECKED = tuple(row for row in CLASSES if row.rare_in_right)


@dataclass(frozen=True)
class Judged:
    """A judge's metric that gives the signal of a class.

    Attributes:
        fault: the class.
        metric: by the name that the run shows.
        judge: how far its judge is known to agree with people, a sentence.
        n_right, of_right: of how many samples that the headline calls right the signal says the
            same, and of how many of these it says anything; ``None`` where this is not looked at.
    """

    fault: FaultClass
    metric: str
    judge: str
    n_right: int | None = None
    of_right: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The metric as JSON."""
        return {"class": self.fault.name, **{k: v for k, v in vars(self).items() if k != "fault"}}


class JudgedSignals:
    """The judges' signals of a run: how often each reports a fault in samples that are right.

    Checked are only signals of classes that a right sample is seldom in
    (`FaultClass.rare_in_right`), by a judge whose agreement with people is not known or not
    sufficient. ``metrics`` are those of the run's summary, by shown name.
    """

    def __init__(self, metrics: Mapping[str, MetricSummary]) -> None:
        found = {name: judge_agreement(metric) for name, metric in metrics.items()}
        self._figures = {name: str(one.note) for name, one in found.items() if one is not None}
        self._doubtful = {name for name, one in found.items() if one and not one.sufficient}
        self._says: Counter[tuple[str, str]] = Counter()
        self._of: Counter[tuple[str, str]] = Counter()

    def are_checked(self, names: Mapping[str, Sequence[str]]) -> bool:
        """Whether any signal has to be counted; ``names`` are the shown ones by canonical name."""
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
        idle = {
            signal
            for row, signal, one in _checked(signals)
            if self._tells_nothing(row, one.metric)
            and row.holds({signal: one.value}, sample, limits)
        }
        return {name: value for name, value in signals.items() if name not in idle}

    def not_telling(self) -> Iterator[Judged]:
        """The signals that were left out, in the order of the table."""
        for row in _CHECKED:
            for name, metric in self._of:
                if name == row.name and self._tells_nothing(row, metric):
                    yield self.judged(row, metric)

    def metrics_of(self, fault: FaultClass, signals: Mapping[str, SignalValue]) -> Iterator[str]:
        """The judges' metrics whose signals put a sample into a class."""
        for group in fault.needs:
            value = next((signals[one.name] for one in group if one.name in signals), None)
            if value is not None and value.metric in self._figures:
                yield value.metric

    def judged(self, fault: FaultClass, metric: str) -> Judged:
        """Who judged a metric that gives the signal of a class."""
        is_checked = fault.rare_in_right and metric in self._doubtful
        key = fault.name, metric
        counts = (self._says[key], self._of[key]) if is_checked else (None, None)
        return Judged(fault, metric, self._figures[metric], *counts)

    def _tells_nothing(self, row: FaultClass, metric: str) -> bool:
        key = row.name, metric
        return 0 < self._of[key] <= 2 * self._says[key]


def _checked(signals: Mapping[str, SignalValue]) -> Iterator[tuple[FaultClass, str, SignalValue]]:
    """The rows that are checked, each with its signal where the sample has it."""
    for row in _CHECKED:
        signal = row.needs[0][0].name
        if signal in signals:
            yield row, signal, signals[signal]


@dataclass(frozen=True)
class NotLookedAt:
    """A class that cannot be told: why, in words, and a metric to compute for each signal that is
    missing."""

    fault: FaultClass
    why: str
    metrics: tuple[str, ...] = ()


def parts_of(sample: Sample) -> set[str]:
    """What a sample holds, as far as it decides which metrics can be proposed."""
    gold = sample.gold or ()
    parts = {
        "passages": sample.passages is not None,
        "gold ids": any(one.id is not None for one in gold),
        "gold spans": any(one.id is None for one in gold),
        "references": bool(sample.references),
        "labels": sample.answerability is not None,
        "answers": bool(sample.answer_text.strip()),
        "citations": _cites(sample),
    }
    return {name for name, is_there in parts.items() if is_there}


def _cites(sample: Sample) -> bool:
    """Whether the answer of a sample cites anything."""
    if sample.answer is None:
        return False
    statements = sample.answer.statements or citation_parser.parts(
        sample.answer.text, sample.passages or ()
    )
    return any(one.citations for one in statements)


def _metric_for(signal: Signal, parts: Collection[str]) -> str | None:
    """A metric that gives a signal for samples with such parts; ``None`` where none can."""
    fit = (
        metric
        for needed, metric in signal.propose.items()
        if all(part in parts for part in needed.split(" + ") if part)
    )
    return next(fit, None)


def not_looked_at(
    metrics: Mapping[str, MetricSummary],
    names: Mapping[str, Sequence[str]],
    sources: Mapping[str, Mapping[str, int]],
    parts: Collection[str],
) -> Iterator[NotLookedAt]:
    """The classes for which a signal is missing in all samples, which have these parts."""
    for fault in CLASSES:
        if fault.labelled and "labels" not in parts:
            yield NotLookedAt(
                fault, "no sample has a label of answerability ('answerable', 'unanswerable')"
            )
            continue
        whys, proposed = [], []
        for group in fault.needs:
            if any(sources[signal.name] for signal in group):
                continue
            held = [(signal, shown) for signal in group for shown in signal.given_by(names)]
            silent = [(signal, shown) for signal, shown in held if metrics[shown].n_scored]
            metric = _metric_for(group[0], parts)
            if silent:
                why = f"{silent[0][0].lacking} {_names(silent)}"
            elif group[0].name == "cited" and "answers" in parts and "citations" not in parts:
                why = "no answer cites anything"
            elif held:
                why = f"unscored in all samples ({_names(held)})"
                if metric is not None and canonical_name(metric) not in names:
                    proposed.append(metric)
            elif metric is None:
                why = "the samples hold nothing that would tell it"
            else:
                why = "computed by no metric of the run"
                proposed.append(metric)
            whys.append(f"{' or '.join(signal.says for signal in group)}: {why}")
        if whys:
            yield NotLookedAt(fault, "; ".join(whys), tuple(proposed))


def _names(held: Sequence[tuple[Signal, str]]) -> str:
    """The metrics, each once: one may give several signals."""
    return ", ".join(dict.fromkeys(shown for _, shown in held))
