"""The diagnosis of a run: which samples fail, why, how many, and what each class costs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Any

import numpy as np

from ragassay.engine.comparison import judge_figure, offline_reason
from ragassay.engine.diagnosis.decision_table import (
    CLASSES,
    NOTHING_LACKING,
    UNEXPLAINED,
    FaultClass,
    Thresholds,
    class_of,
    refuses_rightly,
)
from ragassay.engine.diagnosis.judged_signals import Judged, JudgedSignals, NotTelling
from ragassay.engine.diagnosis.missing_signals import Facts, NotLookedAt, not_looked_at
from ragassay.engine.diagnosis.signals import (
    FOUND_SOMEWHERE,
    RANK,
    SIGNALS,
    Found,
    names_by_metric,
)
from ragassay.engine.results import (
    SAMPLES,
    Displayed,
    MetricSummary,
    Result,
    Rows,
    sample_clusters,
    with_samples,
)
from ragassay.errors import UsageError, did_you_mean
from ragassay.printable import excerpt
from ragassay.samples import Identity, Sample
from ragassay.stats import ROUNDING, mean_interval

HEADLINES = (
    *("answer_match", "factual_correctness", "rb_llm", "rb_llm_idk", "contains_answer"),
    *("covers_answer", "acc", "nuggets", "nuggets_ore", "answer_similarity"),
    *("ragreport_satisfaction", "rb_agg", "rb_agg_idk", "token_f1", "f1", "rougeL", "rouge-l"),
    *("reference_recall", "reference_rougeL", "nDCG", "RR", "umbrela_nDCG", "SpanR", "ChunkR"),
)
"""Metrics that a diagnosis takes as its headline, the first that a run has: whether the answer is
right, by a judge, by words, by its parts; then whether retrieval is."""

EXCERPT = 160
"""Characters of a query or an answer in an example."""


@dataclass(frozen=True)
class Example:
    """A failing sample.

    Attributes:
        identity: query id, system and repeat.
        query, answer: their first words.
        headline: its headline value; ``None`` where it is unscored.
        signals: the signals that are known, by name; the rank is infinite where nothing relevant
            was retrieved, and left out where it is known only that something was.
    """

    identity: Identity
    query: str
    answer: str
    headline: float | None
    signals: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """The example as JSON; an infinite rank is null."""
        sample, system, repeat = self.identity
        rest = {key: value for key, value in vars(self).items() if key != "identity"}
        signals = {k: None if v == inf else v for k, v in self.signals.items()}
        return {"sample": sample, "system": system, "repeat": repeat, **rest, "signals": signals}


@dataclass(frozen=True)
class ClassFound:
    """A class of failing samples in a run.

    Attributes:
        fault: the class.
        n: samples in it.
        share: of all samples, 0 to 1.
        low, high: interval of the share; ``None`` with fewer than two clusters.
        cost: how much the mean of the headline would rise if those of its samples that lie below
            the threshold had the mean of the samples that do not fail; ``None`` where there are
            none of these, or no sample of the class has a headline value.
        examples: some of its samples, those with the lowest headline values first.
        samples: all of them.
        judged: the metrics among those that put samples into it which a judge gave.
    """

    fault: FaultClass
    n: int
    share: float
    low: float | None
    high: float | None
    cost: float | None
    examples: tuple[Example, ...]
    samples: tuple[Identity, ...]
    judged: tuple[Judged, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The class as JSON."""
        return {
            "class": self.fault.name,
            "title": self.fault.title,
            **{key: getattr(self, key) for key in ("n", "share", "low", "high", "cost")},
            "says": self.fault.says,
            "advice": self.fault.advice,
            "judged": [one.to_json() for one in self.judged],
            "samples": [list(one) for one in self.samples],
            "examples": [one.to_json() for one in self.examples],
        }


@dataclass(frozen=True)
class Diagnosis(Displayed):
    """Why the samples of a run fail.

    Attributes:
        name: of the run.
        headline: the metric that says which samples fail.
        judged: who judged the headline, and how far that agrees with people; empty where nobody
            judged it.
        below: a sample fails where it lies below this.
        headline_only: whether samples fail by the headline alone.
        thresholds: the numbers of the decision table.
        n: all samples.
        n_scored: those with a headline value.
        n_failing: those that fail.
        mean: of the headline, over those that are scored.
        fine_mean: of the headline, over those that do not fail.
        level: confidence level of the intervals.
        found: the classes that occur, most samples first.
        not_looked_at: the classes that could not be told, in the order of the table.
        not_telling: the judges' signals that were left out, because they say the same of many
            samples that are right.
        sources: by signal, the metrics that gave it and for how many samples.
        command: a command that computes what is missing; empty where nothing is.
        classes: each sample's class by name, in the order of the run; ``None`` where it does not
            fail.
        unknown: for each sample whether nothing says that it fails or does not: its headline is
            unscored, and it shows no other fault.
    """

    name: str
    headline: str
    judged: str
    below: float
    headline_only: bool
    thresholds: Thresholds
    n: int
    n_scored: int
    n_failing: int
    mean: float | None
    fine_mean: float | None
    level: float
    found: tuple[ClassFound, ...]
    not_looked_at: tuple[NotLookedAt, ...]
    not_telling: tuple[NotTelling, ...]
    sources: Mapping[str, Mapping[str, int]]
    command: str
    classes: Sequence[str | None] = field(repr=False)
    unknown: Sequence[bool] = field(repr=False)

    def __repr__(self) -> str:
        failing = f"failing={self.n_failing} samples={self.n}"
        return f"<Diagnosis {self.name!r}: {failing} headline={self.headline}>"

    @property
    def counts(self) -> list[tuple[str, str, int]]:
        """Name, title and number of samples of each class that occurs."""
        return [(one.fault.name, one.fault.title, one.n) for one in self.found]

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as JSON."""
        body = {one.name: getattr(self, one.name) for one in fields(self) if one.repr} | {
            "thresholds": dict(vars(self.thresholds)),
            "found": [one.to_json() for one in self.found],
            "not_looked_at": [
                {"class": one.fault.name, "why": one.why, "metrics": list(one.metrics)}
                for one in self.not_looked_at
            ],
            "not_telling": [one.to_json() for one in self.not_telling],
            "sources": {name: dict(metrics) for name, metrics in self.sources.items()},
        }
        called = {"name": "run", "found": "classes"}
        return {called.get(name, name): value for name, value in body.items()}


def headline_of(result: Result) -> str | None:
    """The metric that a diagnosis takes as its headline: the first of `HEADLINES` that has a value
    for at least half of the samples; ``None`` where the run has none. One by the offline judge
    whose agreement with people is not known or not sufficient is taken where there is no other.

    Args:
        result: of a run.
    """
    metrics = result.summary.metrics
    names = names_by_metric(metrics)
    fit = [
        shown
        for wanted in HEADLINES
        for shown in names.get(wanted, ())
        if metrics[shown].mean is not None and 2 * metrics[shown].n_scored >= metrics[shown].n_total
    ]
    trusted = (shown for shown in fit if not offline_reason(metrics[shown]))
    return next(trusted, fit[0] if fit else None)


def diagnose(
    result: Result,
    *,
    headline: str | None = None,
    below: float | None = None,
    thresholds: Thresholds | None = None,
    headline_only: bool = False,
    n_examples: int = 3,
) -> Diagnosis:
    """Tells the failing samples of a run apart, from its scores. No model is asked.

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
        [('refused_answerable', 'Refused though answerable', 1)]

    Args:
        result: of a run.
        headline: the metric that says which samples fail; see `headline_of`.
        below: a sample fails where the headline lies below this, a value of the metric's range;
            the middle of the range when left out.
        thresholds: the numbers of the decision table.
        headline_only: whether samples fail by the headline alone. Otherwise an answer that is
            contradicted, invented, cited wrongly or given to an unanswerable query fails in any
            case.
        n_examples: samples shown of each class.

    Raises:
        UsageError: the run has no such metric, or none that can be the headline; a ``below`` out
            of the metric's range, or none and a metric without a range; the system failed for every
            sample.
    """
    if gone := result.summary.all_failed:
        raise UsageError(f"{result.name} cannot be diagnosed. {gone}")
    limits = thresholds or Thresholds()
    metric = _headline(result, headline)
    bound = _bound(metric, below)
    columns = result.columns
    scored, values = columns.scored(metric.name), columns.values(metric.name)
    # A value that is the threshold up to rounding is not below it.
    low = scored & (values < bound) & ~np.isclose(values, bound, rtol=ROUNDING, atol=ROUNDING)
    names = names_by_metric(result.summary.metrics)
    classes: list[FaultClass | None] = []
    unknown: list[bool] = []
    given: dict[str, Counter[str]] = {signal.name: Counter() for signal in SIGNALS}
    kept: dict[str, list[Example]] = {}
    judges: dict[str, Counter[str]] = {}
    facts = Facts()
    judgments = JudgedSignals(result.summary.metrics)
    if judgments.are_checked(names):
        for row, (sample, rows) in enumerate(_samples(result)):
            if scored[row] and not low[row]:
                judgments.add_right(_signals(rows, names, sample), sample, limits)
    for row, (sample, rows) in enumerate(_samples(result)):
        facts.add(sample)
        every = _signals(rows, names, sample)
        for name, one in every.items():
            given[name][one.metric] += 1
        known = judgments.telling(every, sample, limits)
        signals = {name: one.value for name, one in known.items()}
        value = float(values[row]) if scored[row] else None
        fault = class_of(signals, sample, bool(low[row]), limits, headline_only=headline_only)
        classes.append(fault)
        unknown.append(fault is None and value is None and not refuses_rightly(signals, sample))
        if fault is not None:
            judges.setdefault(fault.name, Counter()).update(judgments.metrics_of(fault, known))
            shown = {
                name: v for name, v in signals.items() if (name, v) != (RANK.name, FOUND_SOMEWHERE)
            }
            query, answer = (
                excerpt(text, EXCERPT) for text in (sample.query_text, sample.answer_text)
            )
            example = Example(sample.identity, query, answer, value, shown)
            _keep(kept.setdefault(fault.name, []), example, n_examples)
    fails = np.array([fault is not None for fault in classes], dtype=np.bool_)
    fine = scored & ~fails
    fine_mean = float(values[fine].mean()) if fine.any() else None
    level = float(result.config.get("level", 0.95))
    clusters = sample_clusters(columns)
    found = []
    for fault in (*CLASSES, UNEXPLAINED):
        member = np.array([one is fault for one in classes], dtype=np.bool_)
        if not member.any():
            continue
        interval = mean_interval(
            member.astype(np.float64), span=(0.0, 1.0), level=level, clusters=clusters
        )
        cost = None
        if fine_mean is not None and (member & scored).any():
            cost = float((fine_mean - values[member & low]).sum() / max(1, scored.sum()))
        found.append(
            ClassFound(
                fault, int(member.sum()), float(member.mean()), interval.low, interval.high, cost,
                tuple(kept[fault.name]),
                tuple(columns.identities[at] for at in np.flatnonzero(member).tolist()),
                tuple(judgments.judged(fault, one) for one in judges[fault.name]),
            )
        )  # fmt: skip
    found.sort(key=lambda one: (one.fault is UNEXPLAINED, -one.n))
    missing = tuple(not_looked_at(result.summary.metrics, names, given, facts))
    command = _command(
        result, metric.name, given, [name for one in missing for name in one.metrics]
    )
    if found and found[-1].fault is UNEXPLAINED and not command:
        found[-1] = replace(found[-1], fault=NOTHING_LACKING)
    return Diagnosis(
        name=result.name,
        headline=metric.name,
        judged=judge_figure(metric),
        below=bound,
        headline_only=headline_only,
        thresholds=limits,
        n=len(classes),
        n_scored=int(scored.sum()),
        n_failing=int(fails.sum()),
        mean=float(values[scored].mean()) if scored.any() else None,
        fine_mean=fine_mean,
        level=level,
        found=tuple(found),
        not_looked_at=missing,
        not_telling=tuple(judgments.not_telling()),
        sources={name: dict(counts) for name, counts in given.items() if counts},
        command=command,
        classes=[None if fault is None else fault.name for fault in classes],
        unknown=unknown,
    )


def _command(
    result: Result, headline: str, given: Mapping[str, Mapping[str, int]], missing: Sequence[str]
) -> str:
    """A command that computes what the diagnosis rests on, and what it lacks."""
    if not missing:
        return ""
    used = [headline, *(shown for counts in given.values() for shown in counts)]
    metrics = result.summary.metrics
    config, folder = result.config, result.folder
    words = ["ragassay", "run", "DATA" if folder is None else str(folder / SAMPLES)]
    # By canonical names: one that a suite publishes may be another metric without the suite.
    for metric in dict.fromkeys([*(metrics[one].metric or one for one in used), *missing]):
        words += ["-m", metric]
    for judge in config.get("judge") or ():
        words += ["--judge", str(judge)]
    words += ["-o", "RUN" if folder is None else f"{folder}-diagnosed"]
    return shlex.join(words)


def _headline(result: Result, name: str | None) -> MetricSummary:
    metrics = result.summary.metrics
    found = headline_of(result) if name is None else name
    if found is None:
        raise UsageError(
            "No metric of the run says whether an answer is right. Name one with --headline. "
            f"There are: {', '.join(metrics) or 'none'}."
        )
    if found not in metrics:
        raise UsageError(
            f"The run has no metric {found!r} for --headline. {did_you_mean(found, metrics)} "
            f"There are: {', '.join(metrics)}."
        )
    metric = metrics[found]
    if metric.higher_is_better is not True:
        raise UsageError(
            f"{found} cannot be the headline: no higher value of it is better. Name another metric "
            "with --headline."
        )
    return metric


def _bound(metric: MetricSummary, below: float | None) -> float:
    """The threshold of the headline: the given one, or the middle of the metric's range.

    By a threshold of the lowest value or less no sample could fail, by one above the highest all
    would.
    """
    low, high = metric.bounds
    if below is not None:
        least, most = -inf if low is None else low, inf if high is None else high
        if not least < below <= most:
            raise UsageError(
                f"--below is {below:g}; {metric.name} is from {least:g} to {most:g}. Give a value "
                f"above {least:g} and up to {most:g}."
            )
        return below
    if low is None or high is None:
        raise UsageError(f"{metric.name} has no range: say with --below from where on it is good.")
    return (low + high) / 2


def _signals(rows: Rows, names: Mapping[str, Sequence[str]], sample: Sample) -> dict[str, Found]:
    """The signals of a sample that are known, by name."""
    read = ((signal.name, signal.read(rows, names, sample)) for signal in SIGNALS)
    return {name: found for name, found in read if found is not None}


def _samples(result: Result) -> Iterator[tuple[Sample, Rows]]:
    """Each sample with its scores; a sample that was not kept has its identity only."""
    for (name, system, repeat), sample, rows in with_samples(result):
        yield sample or Sample(id=name, system=system, repeat=repeat), rows


def _keep(examples: list[Example], one: Example, n: int) -> None:
    """Adds an example if it is among the ``n`` with the lowest headline values."""
    examples.append(one)
    examples.sort(key=lambda example: inf if example.headline is None else example.headline)
    del examples[n:]
