"""MT-RAG's BERTScores, against the first target and the passages, and its harmonic means: of three
metrics for each sample, and of three means for a ranking.

Computed as in the benchmark: ``microsoft/deberta-xlarge-mnli``, layer 40, no idf weights, rescaled
with bert-score's baseline for English.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, ClassVar, Literal, NamedTuple

from ragassay.base.errors import ArgumentError, CountedFact
from ragassay.base.printable import plural
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.likeness import (
    EMPTY,
    RESCALE,
    EncoderMetric,
    OnScale,
    against,
    cut_note,
)
from ragassay.metrics.core.metric import (
    Metric,
    Need,
    Window,
    missing,
    param,
    part,
    register,
    scored,
    textless_passage,
)
from ragassay.metrics.mtrag.mtrag_values import (
    GIVEN,
    READ,
    Given,
    ReferenceRougeL,
    bounded,
    in_range,
    no_contexts,
)
from ragassay.models.encoders.token_matching import TokenMatch
from ragassay.models.weights.weight_files import BY_MODEL, Unavailable


@dataclass(frozen=True)
class ByBertScore(OnScale):
    """The parameters of all metrics computed from BERTScores, so that all use one model and
    scale."""

    rescale: bool = param(True, RESCALE)
    given: bool = param(True, GIVEN, beside=True)

    @property
    def shared_parameters(self) -> dict[str, Any]:
        """These parameters, to pass on to a metric that this one reads."""
        return {spec.name: getattr(self, spec.name) for spec in fields(ByBertScore)}


class _BertScore(Given, ByBertScore, EncoderMetric):
    """A BERTScore, given or computed.

    Rescaling stretches the cosine's -1 to a value that depends on the model, so there is no lower
    bound.

    Source: Zhang et al. 2020, BERTScore; MT-RAG benchmark, step 1
    """

    family = "mtrag"
    low = None
    uses = ("given",)
    rule_of_value = "one number of at most 1, or one for each text"
    nearest: ClassVar[bool] = False
    """Whether the highest value over the passages counts, and not that for the first target."""

    def read(self, sample: Sample) -> Outcome | None:
        return self.brought(sample)

    def taken_over(self, sample: Sample, name: str, values: Sequence[Any]) -> Outcome:
        """The value that counts, with all values as parts, just as they are given; `Unscored` where
        their number or one of them is not possible."""
        texts = sample.passages if self.nearest else sample.references
        if texts is not None and len(values) not in (1, len(texts)):
            n, of = plural(len(values), "value"), plural(len(texts), "text")
            return Unscored(Reason.UNDEFINED, f"the given {name} has {n} for {of}")
        checked = in_range(self, name, values)
        if isinstance(checked, Unscored):
            return checked
        score = self.read_score(bounded(self, checked[self._at(checked)]), sample)
        return replace(score, parts={"values": checked})

    def _at(self, values: Sequence[float]) -> int:
        """The index of the value that counts."""
        return max(range(len(values)), key=values.__getitem__) if self.nearest else 0

    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """The model's scores; where there is no model, the error says how to give the values
        instead."""
        try:
            compared = window.once(against, self.scale, tuple(rows), self.nearest)
        except Unavailable as error:
            raise error.saying(
                f"{error}; values in the records' metrics, under the published names, need no model"
            ) from error
        return [
            self._outcome(window, [pair for pair in each if pair is not None]) for each in compared
        ]

    def _outcome(self, window: Window, matches: Sequence[TokenMatch]) -> Score:
        """The value that counts, with all values as parts; notes say that its text is empty, or
        that texts were cut."""
        values = [getattr(match, getattr(self, "part", "p")) for match in matches]
        at = self._at(values)
        if self.nearest:
            cut = cut_note(matches, window, self.scale, "passage")
        else:
            cut = cut_note(matches[:1], window, self.scale, "target")
        notes = filter(None, (EMPTY if matches[at].empty else "", cut))
        return Score(bounded(self, values[at]), {"values": values}, "; ".join(notes))


@register
class ReferenceBertScore(_BertScore):
    """BERTScore against the first target (MT-RAG BertscoreP, BertscoreR).

    ``bertscore`` takes the best of several references instead.

    Formula: BERTScore of the answer against the first target
    Misleads where: a wrong number or name costs little
    """

    part: Literal["p", "r"] = part("r", ("p", "r"), "precision or recall")

    name = "reference_bertscore"
    needs = ("answer", "references")

    @property
    def names(self) -> tuple[str, ...]:
        """The spellings of the benchmark's records and of its analytics."""
        return {"p": ("BertscoreP", "Bert-Prec"), "r": ("BertscoreR", "Bert-Rec")}[self.part]


@register
class PassageBertScore(_BertScore):
    """BERTScore precision against the nearest passage (MT-RAG BertKPrec).

    MT-RAG's page calls it keyword precision; it is knowledge precision (Adlakha et al. 2023).
    Unscored where nothing was retrieved, whatever value the record brings.

    Formula: highest BERTScore precision of the answer against a passage
    Misleads where: a copied wrong passage scores nearly 1
    """

    name = "passage_bertscore"
    needs: ClassVar[tuple[Need, ...]] = ("answer", "passages")
    published = ("BertKPrec", "Bert-KPrec")
    nearest = True

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without passages, an answer, or (unless the record brings the value) their
        texts."""
        if self.brought(sample) is not None and sample.passages != ():
            return missing(sample, ("answer",))
        if (none := no_contexts(sample)) is not None:
            return missing(sample, ("answer",)) or none
        return super().lacks(sample) or textless_passage(sample)


class Shares(NamedTuple):
    """The three parts of the aggregate, each from 0 to 1."""

    recall: float
    rouge: float
    extractiveness: float

    @property
    def denominator(self) -> float:
        """Sum of the products of two."""
        x, y, z = self
        return (x * y) + (x * z) + (y * z)

    @property
    def aggregate(self) -> float:
        """The harmonic mean, 0 where any share is 0 (operations in the published order)."""
        x, y, z = self
        return 3 * x * y * z / self.denominator if x and y and z else 0.0


def ranking_score(*, rl_f: float, rb_llm: float, rb_alg: float) -> float:
    """One figure for a system, by which MTRAGEval (SemEval 2026) ranks systems: a harmonic mean."""
    means = (rl_f, rb_llm, rb_alg)
    if not all(0 <= mean <= 1 for mean in means):
        raise ArgumentError(f"means are from 0 to 1, not {', '.join(map(str, means))}")
    return 0.0 if 0 in means else len(means) / sum(1 / mean for mean in means)


def _shares(
    sample: Sample, recall: Outcome, rouge: Outcome, knowledge: Outcome
) -> Shares | Unscored:
    lacking = missing(sample, ("answer", "references"))
    if lacking is not None:
        return lacking
    # Nothing retrieved, or no contexts in the record, counts as extractiveness 0, as in MT-RAG.
    if isinstance(knowledge, Unscored) and not sample.passages:
        # A given value that is none says so itself.
        is_absent = knowledge.reason.excused in (Reason.NOT_APPLICABLE, Reason.MISSING_INPUT)
        knowledge = Score(-1.0) if is_absent else knowledge
    numbers = []
    for name, outcome, counts in (
        ("BertscoreR", recall, itemgetter(0)),
        ("RougeL_stemFalse", rouge, itemgetter(0)),
        ("BertKPrec", knowledge, max),
    ):
        if isinstance(outcome, Unscored):
            return Unscored(outcome.reason, f"{name} is unscored: {outcome.detail}")
        # Unbounded, as published: a cosine of 1.0000004 is 1.0 in its own score only.
        values = outcome.parts.get("values")
        numbers.append(counts(values) if values else outcome.number or 0.0)
    x, y, z = numbers
    result = Shares((x + 1) / 2, y, (z + 1) / 2)
    if min(result) < 0 and 0 not in result:
        return Unscored(
            Reason.UNDEFINED,
            "a BERTScore below -1 has a negative share, and a harmonic mean takes none",
        )
    return result


_NO_CONTEXTS = (
    "{n} {record has|records have} no contexts. Extractiveness and RB_agg are 0 there, as "
    "published; where another file holds the contexts, name it, too."
)

_FROM = f"from BERTScores {READ}"


class _Aggregate(Given, ByBertScore):
    """Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 1"""

    family = "mtrag"
    needs = ("answer", "references")
    uses = ("passages", "given")

    @cached_property
    def inputs(self) -> tuple[Metric, ...]:  # type: ignore[override]  # read only
        return (
            ReferenceBertScore(**self.shared_parameters, part="r"),
            ReferenceRougeL(),
            PassageBertScore(**self.shared_parameters),
        )

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without answer, references, or what the BERTScores need."""
        lacking = super().lacks(sample)
        if lacking is not None or self.brought(sample) is not None:
            return lacking
        recall, _, knowledge = self.inputs
        lacking = recall.lacks(sample)
        return lacking if lacking is not None or not sample.passages else knowledge.lacks(sample)

    def score_window(self, window: Window) -> Sequence[Outcome]:
        made_of = zip(*map(window.outcomes, self.inputs), strict=True)
        return [
            self._outcome(sample, *parts)
            for sample, parts in zip(window.samples, made_of, strict=True)
        ]

    def _outcome(self, sample: Sample, *parts: Outcome) -> Outcome:
        values = _shares(sample, *parts)
        given = any(isinstance(part, Score) and part.given for part in parts)
        brought = self.brought(sample)
        if brought is not None and not given:
            return brought  # whether there is a model here or not
        if not isinstance(values, Unscored):
            none = isinstance(parts[2], Unscored) and no_contexts(sample)
            notes = (
                f"{none.detail}: extractiveness counts as 0" if none else "",
                _FROM if given else "",
            )
            return replace(self.of(values), explanation="; ".join(filter(None, notes)), given=given)
        return brought if brought is not None and values.reason in BY_MODEL else values

    @abstractmethod
    def of(self, values: Shares) -> Score:
        """The score for three shares."""


@register
class RBAgg(_Aggregate):
    """Reference-based aggregate: recall, ROUGE-L, knowledge (MT-RAG RB_agg).

    Nothing retrieved, or no contexts in the record, counts as a third share of 0. Where a part
    could not be computed the score is `Unscored` and names it; the published code replaces a
    missing BertscoreR by ``Recall``. A record's own ``RB_agg`` counts where it brings no
    BERTScores.

    Formula: harmonic mean of (BERTScore recall + 1) / 2, ROUGE-L and (BERTScore precision against
        passages + 1) / 2
    Misleads where: rewards copying; one share of 0 makes all 0
    """

    name = "rb_agg"
    version = 3
    published = ("RB_agg",)  # rb_agg of an InspectorRAGet file is the conditioned value

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many records have no contexts at all, which may be an oversight, and how many bring
        an impossible value."""
        pairs = zip(window.samples, window.outcomes(self), strict=True)
        n = sum(
            sample.passages is None and isinstance(outcome, Score) and not outcome.value
            for sample, outcome in pairs
        )
        return [CountedFact(_NO_CONTEXTS, n), *super().remarks(window)]

    def of(self, values: Shares) -> Score:
        return scored(bounded(self, values.aggregate), **values._asdict())


@register
class RBAggZeroDenominator(_Aggregate):
    """Whether RB_agg was set to 0 because its denominator was 0 (MT-RAG RB_agg_zero_denominator).

    Formula: 1 if at least two of the three shares are 0, else 0
    Misleads where: a note on rb_agg, not quality
    """

    name = "rb_agg_zero_denominator"
    says = "flag"
    version = 2
    higher_is_better = None

    def of(self, values: Shares) -> Score:
        return scored(values.denominator == 0)
