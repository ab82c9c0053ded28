"""MT-RAG's values that need a model or a judge, read from the record that brings them.

A record carries them among its ``metrics`` (as a list or a number), or as annotations of an
InspectorRAGet file. Where it does not, the score is `Unscored`, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragassay.metrics.base import SampleMetric, missing, not_applicable, part, register, scored
from ragassay.metrics.mtrag import NO_CONTEXTS
from ragassay.samples import Sample
from ragassay.scores import Outcome, Reason, Unscored


def given(sample: Sample, *names: str) -> list[Any] | None:
    """The values that came with the record under the first of ``names`` that it has.

    A lone value is a list of one. ``None`` where it has none of them, or null or an empty list.
    """
    for name in names:
        value = sample.given.get(name)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if value is not None and values:
            return values
    return None


def is_number(value: Any) -> bool:
    """Whether a given value is a finite number (flags are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class _BertScore(SampleMetric):
    """A BERTScore that the record brings, rescaled with the benchmark's baseline."""

    family = "mtrag"
    needs = ("given",)
    low = -1.0
    kind = "model"
    source = "Zhang et al. 2020, BERTScore; MT-RAG benchmark, step 1"

    def _take(self, names: Sequence[str], sample: Sample, n: int | None) -> list[Any] | Unscored:
        """The finite numbers given under one of ``names``, ``n`` of them or a lone one."""
        values = given(sample, *names)
        if values is None:
            return Unscored(
                Reason.NEEDS_EXTRA,
                f"BERTScore needs a model, which is not part of this version; "
                f"give its values as '{names[0]}' in the record's metrics",
            )
        if not all(map(is_number, values)):
            return Unscored(Reason.UNDEFINED, f"the given {names[0]} does not hold numbers only")
        if n is not None and len(values) not in (1, n):
            return Unscored(
                Reason.UNDEFINED, f"the given {names[0]} has {len(values)} values for {n} texts"
            )
        return values


@register
@dataclass(frozen=True)
class ReferenceBertScore(_BertScore):
    """BERTScore of the answer against the first target: precision or recall.

    Rescaled with a baseline, so a value may lie slightly beyond -1..1.
    """

    part: Literal["p", "r"] = part("r", ("p", "r"), "precision or recall")

    name = "reference_bertscore"
    title = "BERTScore against the first target (MT-RAG BertscoreP, BertscoreR), as given"

    def score_sample(self, sample: Sample) -> Outcome:
        """The first target's value; all of them as parts."""
        names = {"p": ("BertscoreP", "Bert-Prec"), "r": ("BertscoreR", "Bert-Rec")}[self.part]
        lacking = missing(sample, ("answer", "references"))
        if lacking is not None:
            return lacking
        values = self._take(names, sample, len(sample.references))
        return values if isinstance(values, Unscored) else scored(values[0], values=values)


@register
@dataclass(frozen=True)
class PassageBertScore(_BertScore):
    """BERTScore precision of the answer against each passage, the highest counts.

    MT-RAG's page calls it keyword precision; it is knowledge precision (Adlakha et al. 2023).
    Not applicable where nothing was retrieved, whatever value the record brings.
    """

    name = "passage_bertscore"
    title = "BERTScore precision against the nearest passage (MT-RAG BertKPrec), as given"

    def score_sample(self, sample: Sample) -> Outcome:
        """Highest value; those of all passages as parts."""
        if sample.passages == ():
            return not_applicable(NO_CONTEXTS)
        lacking = missing(sample, ("answer",))
        if lacking is not None:
            return lacking
        n = None if sample.passages is None else len(sample.passages)
        values = self._take(("BertKPrec", "Bert-KPrec"), sample, n)
        return values if isinstance(values, Unscored) else scored(max(values), values=values)


@dataclass(frozen=True)
class _Judged(SampleMetric):
    """A judge's value that the record brings."""

    published: ClassVar[str]
    conditioned: ClassVar[str]

    family = "mtrag"
    needs = ("given",)
    kind = "judge"

    def score_sample(self, sample: Sample) -> Outcome:
        """The first value, a number."""
        values = given(sample, self.published)
        if values is None:
            other = ""
            if self.conditioned in sample.given:
                other = f"; the record's '{self.conditioned}' is the value after IDK conditioning"
            return Unscored(
                Reason.NEEDS_EXTRA,
                f"{self.published} needs a judge, which is not part of this version; "
                f"give its value as '{self.published}' in the record's metrics{other}",
            )
        if not is_number(values[0]):
            return Unscored(
                Reason.UNDEFINED,
                f"the given {self.published} is not a number: the judge's reply was not understood",
            )
        return scored(values[0])


@register
@dataclass(frozen=True)
class IdkEval(_Judged):
    """Whether the answer says "I don't know": 1 fully, 0.5 in part, 0 not at all.

    An InspectorRAGet file has only ``conditional_idk`` (see ``answerability_accuracy``), from which
    a full "I don't know" can be told but not the rest: a mean over those alone would be 1.
    """

    name = "idk_eval"
    title = "Does the answer say that it does not know? (MT-RAG idk_eval), as given"
    source = "MT-RAG benchmark, step 2"
    published = "idk_eval"
    conditioned = ""
    higher_is_better = None


@register
@dataclass(frozen=True)
class ReferencelessFaithfulness(_Judged):
    """Share of the answer's statements that the passages support, by a judge (RAGAS)."""

    name = "rl_f"
    title = "Faithfulness to the passages by a judge (MT-RAG RL_F), as given"
    source = "Es et al. 2024, RAGAS; MT-RAG benchmark, step 3"
    published = "RL_F"
    conditioned = "rl_f"


@register
@dataclass(frozen=True)
class ReferenceJudge(_Judged):
    """A judge's rating of faithfulness, appropriateness and completeness (RAD-Bench)."""

    name = "rb_llm"
    title = "Overall rating against the reference by a judge (MT-RAG RB_llm), as given"
    source = "Kuo et al. 2024, RAD-Bench; MT-RAG benchmark, step 4"
    published = "RB_llm"
    conditioned = "rb_llm"
