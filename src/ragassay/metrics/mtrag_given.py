"""MT-RAG's values that the record brings: how they are read, and the BERTScores.

A record carries them among its ``metrics`` (as a list or a number), or as annotations of an
InspectorRAGet file. A value that is no number, or lies outside the metric's range, is `Unscored`,
and says so. BERTScore needs a model: where the record brings none it is `Unscored` too.

A score is *given* (`Score.given`) where it rests on at least one value that the record brings and
on no judge's verdict: the value itself, what is computed from it (RB_agg from given BERTScores),
and what the table of `mtrag_conditioning` decides by it. One verdict among what a score rests on
makes it judged.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragassay.metrics.base import (
    Metric,
    Need,
    SampleMetric,
    missing,
    not_applicable,
    part,
    register,
)
from ragassay.metrics.mtrag import NO_CONTEXTS
from ragassay.samples import Sample
from ragassay.scores import Outcome, Reason, Score, Unscored

READ = "read from the record"
"""Explanation of a value that the record brings."""

_ROUNDING = 1e-6
"""How far single precision may carry a value beyond its range."""


def values_of(sample: Sample, *names: str) -> list[Any] | None:
    """The values that came with the record under the first of ``names`` that it has.

    A lone value is a list of one, and the text of a number (as a table's cell holds it) that
    number. ``None`` where the record has none of them, or null or an empty list.
    """
    for name in names:
        value = sample.given.get(name)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if value is not None and values:
            return [_number(one) if isinstance(one, str) else one for one in values]
    return None


def in_range(metric: Metric, name: str, values: Sequence[Any]) -> list[float] | Unscored:
    """The values given under ``name``, where all are finite numbers in the metric's range."""
    low = -math.inf if metric.low is None else metric.low - _ROUNDING
    high = math.inf if metric.high is None else metric.high + _ROUNDING
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


def verdict(sample: Sample, name: str) -> float | Unscored | None:
    """A judge's 1, 0.5 or 0 that came with the record; ``None`` where it has none.

    Anything else is a reply that was not understood, hence no verdict.
    """
    values = values_of(sample, name)
    if values is None or isinstance(values[0], Unscored):
        return None if values is None else values[0]
    if values[0] in (0, 0.5, 1):
        return float(values[0])
    return Unscored(
        Reason.UNDEFINED,
        f"the given {name} is {values[0]!r}, none of 0, 0.5 and 1: the judge's reply was not "
        "understood",
    )


def read(value: float, **parts: Any) -> Score:
    """The score of a value that the record brings."""
    return Score(value, parts, READ, given=True)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _is_number(value: Any) -> bool:
    """Whether a given value is a finite number (flags are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class _Given(SampleMetric):
    """A value that the record brings, because computing it takes a model or a judge."""

    maker: ClassVar[str]

    family = "mtrag"
    needs: ClassVar[tuple[Need, ...]] = ("given",)

    def lacks(self, sample: Sample) -> Unscored | None:
        """The sample's parts, and a value under one of the published names."""
        lacking = missing(sample, tuple(need for need in self.needs if need != "given"))
        if lacking is not None or values_of(sample, *self.names) is not None:
            return lacking
        return Unscored(
            Reason.NEEDS_EXTRA,
            f"{self.maker}, which is not part of this version; "
            f"give its value as '{self.names[0]}' in the record's metrics",
        )

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """What the value is called in a record; the first that is there counts."""


@dataclass(frozen=True)
class _BertScore(_Given):
    """A BERTScore that the record brings, rescaled with the benchmark's baseline.

    Rescaling stretches the cosine's -1 to a value that depends on the model, so there is no lower
    bound.
    """

    maker = "BERTScore needs a model"
    low = None
    kind = "model"
    source = "Zhang et al. 2020, BERTScore; MT-RAG benchmark, step 1"

    def _take(self, sample: Sample, n: int | None) -> list[float] | Unscored:
        """The values: ``n`` of them, or a lone one."""
        values = values_of(sample, *self.names) or []
        if n is not None and len(values) not in (1, n):
            return Unscored(
                Reason.UNDEFINED,
                f"the given {self.names[0]} has {len(values)} values for {n} texts",
            )
        return in_range(self, self.names[0], values)


@register
@dataclass(frozen=True)
class ReferenceBertScore(_BertScore):
    """BERTScore of the answer against the first target: precision or recall."""

    part: Literal["p", "r"] = part("r", ("p", "r"), "precision or recall")

    name = "reference_bertscore"
    title = "BERTScore against the first target (MT-RAG BertscoreP, BertscoreR), as given"
    needs = ("answer", "references", "given")

    @property
    def names(self) -> Sequence[str]:
        """The spellings of the benchmark's records and of its analytics."""
        return {"p": ("BertscoreP", "Bert-Prec"), "r": ("BertscoreR", "Bert-Rec")}[self.part]

    def score_sample(self, sample: Sample) -> Outcome:
        """The first target's value; all of them as parts."""
        values = self._take(sample, len(sample.references))
        return values if isinstance(values, Unscored) else read(values[0], values=values)


@register
@dataclass(frozen=True)
class PassageBertScore(_BertScore):
    """BERTScore precision of the answer against each passage, the highest counts.

    MT-RAG's page calls it keyword precision; it is knowledge precision (Adlakha et al. 2023).
    Not applicable where nothing was retrieved, whatever value the record brings.
    """

    name = "passage_bertscore"
    title = "BERTScore precision against the nearest passage (MT-RAG BertKPrec), as given"
    needs = ("answer", "given")
    names = ("BertKPrec", "Bert-KPrec")

    def lacks(self, sample: Sample) -> Unscored | None:
        """Something retrieved, an answer, and the value."""
        if sample.passages is not None and not sample.passages:
            return not_applicable(NO_CONTEXTS)
        return super().lacks(sample)

    def score_sample(self, sample: Sample) -> Outcome:
        """Highest value; those of all passages as parts."""
        values = self._take(sample, None if sample.passages is None else len(sample.passages))
        return values if isinstance(values, Unscored) else read(max(values), values=values)
