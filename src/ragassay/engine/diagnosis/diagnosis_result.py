"""What a diagnosis holds: the classes of failing samples of a run, with examples and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any

from ragassay.base.note import Displayed
from ragassay.base.sample import Identity
from ragassay.engine.diagnosis.decision_table import FaultClass, Thresholds
from ragassay.engine.diagnosis.judged_signals import Judged, NotTelling
from ragassay.engine.diagnosis.missing_signals import NotLookedAt


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
        judged: how far the judge of the headline is known to agree with people, a sentence; empty
            where nobody judged it.
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
