"""MT-RAG's harmonic means: of three metrics for each sample, and of three means for a ranking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import NamedTuple

from ragassay.base.errors import ArgumentError, CountedFact
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.metric import Metric, missing, register, scored
from ragassay.metrics.core.window import Window
from ragassay.metrics.mtrag.mtrag_bertscore import ByBertScore, PassageBertScore, ReferenceBertScore
from ragassay.metrics.mtrag.mtrag_given import READ, bounded, given_value, impossible
from ragassay.metrics.mtrag.mtrag_overlap import ReferenceRougeL, no_contexts
from ragassay.models.weights.weight_files import BY_MODEL


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
    """One figure for a system, by which MTRAGEval (SemEval 2026) ranks systems: a harmonic mean.

    Args:
        rl_f: mean of RL_F_idk over all tasks, 0 to 1.
        rb_llm: mean of RB_llm_idk, 0 to 1.
        rb_alg: mean of RB_agg_idk, 0 to 1.

    Returns:
        The harmonic mean of the three, 0 where any of them is 0.

    Raises:
        ArgumentError: a mean lies outside its range.
    """
    means = (rl_f, rb_llm, rb_alg)
    if not all(0 <= mean <= 1 for mean in means):
        raise ArgumentError(f"means are from 0 to 1, not {', '.join(map(str, means))}")
    return 0.0 if 0 in means else len(means) / sum(1 / mean for mean in means)


def shares(window: Window, *parts: Metric) -> list[Shares | Unscored]:
    """The three shares of each sample; for `Window.once`.

    Nothing retrieved, or no contexts in the record, counts as extractiveness 0, as in MT-RAG.

    Args:
        window: the samples.
        *parts: the metrics of the three shares, in the order of `Shares`.

    Returns:
        One entry a sample; `Unscored` names the part that has no value.
    """
    return [
        _shares(sample, *outcomes)
        for sample, *outcomes in zip(window.samples, *map(window.outcomes, parts), strict=True)
    ]


def _shares(
    sample: Sample, recall: Outcome, rouge: Outcome, knowledge: Outcome
) -> Shares | Unscored:
    lacking = missing(sample, ("answer", "references"))
    if lacking is not None:
        return lacking
    if isinstance(knowledge, Unscored) and not sample.passages:
        # A given value that is none says so itself.
        is_absent = knowledge.reason.excused in (Reason.NOT_APPLICABLE, Reason.MISSING_INPUT)
        knowledge = Score(-1.0) if is_absent else knowledge
    numbers = []
    for name, part, counts in (
        ("BertscoreR", recall, itemgetter(0)),
        ("RougeL_stemFalse", rouge, itemgetter(0)),
        ("BertKPrec", knowledge, max),
    ):
        if isinstance(part, Unscored):
            return Unscored(part.reason, f"{name} is unscored: {part.detail}")
        # Unbounded, as published: a cosine of 1.0000004 is 1.0 in its own score only.
        values = part.parts.get("values")
        numbers.append(counts(values) if values else part.number or 0.0)
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
    "published; where the contexts stand in another file, name that, too."
)

_FROM = f"from BERTScores {READ}"


class _Aggregate(ByBertScore):
    """Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 1"""

    family = "mtrag"
    needs = ("answer", "references")
    uses = ("passages", "given")

    @property
    def inputs(self) -> tuple[Metric, ...]:
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
        all_shares = window.once(shares, *self.inputs)
        made_of = zip(*map(window.outcomes, self.inputs), strict=True)
        return [
            self._outcome(sample, one, *parts)
            for sample, one, parts in zip(window.samples, all_shares, made_of, strict=True)
        ]

    def _outcome(self, sample: Sample, values: Shares | Unscored, *parts: Outcome) -> Outcome:
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

    def brought(self, sample: Sample) -> Outcome | None:
        """The record's own value, which counts where the record brings no BERTScores."""
        return None

    @abstractmethod
    def of(self, values: Shares) -> Score:
        """The score for three shares."""


@register
class RBAgg(_Aggregate):
    """Reference-based aggregate: recall, ROUGE-L, knowledge (MT-RAG RB_agg).

    0 where any of them is 0, even where another is negative (a BERTScore below -1). Nothing
    retrieved, or no contexts in the record, counts as a third share of 0. Where a part could not be
    computed the score is `Unscored` and names it; the published code replaces a missing BertscoreR
    by ``Recall``. A record's own ``RB_agg`` counts where the record brings no BERTScores.

    Formula: harmonic mean of (BERTScore recall + 1) / 2, ROUGE-L and (BERTScore precision against
        passages + 1) / 2
    Misleads where: rewards copying; one share of 0 makes all 0
    Good for: one figure for long answers without a judge
    """

    name = "rb_agg"
    version = 3

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many records have no contexts at all, which may be an oversight, and how many bring
        an impossible value."""
        pairs = zip(window.samples, window.outcomes(self), strict=True)
        n = sum(
            one.passages is None and isinstance(outcome, Score) and not outcome.value
            for one, outcome in pairs
        )
        wrong = sum(isinstance(self.brought(sample), Unscored) for sample in window.samples)
        return [CountedFact(_NO_CONTEXTS, n), impossible(self, "RB_agg", wrong)]

    def brought(self, sample: Sample) -> Outcome | None:
        """The record's ``RB_agg``; ``rb_agg`` of an InspectorRAGet file is the conditioned
        value."""
        return given_value(self, sample, "RB_agg") if self.given else None

    def of(self, values: Shares) -> Score:
        return scored(bounded(self, values.aggregate), **values._asdict())


@register
class RBAggZeroDenominator(_Aggregate):
    """RB_agg was set to 0, its denominator being 0 (MT-RAG RB_agg_zero_denominator).

    Formula: 1 if at least two of the three shares are 0, else 0
    Misleads where: a note on rb_agg, no quality
    """

    name = "rb_agg_zero_denominator"
    says = "flag"
    version = 2
    higher_is_better = None

    def of(self, values: Shares) -> Score:
        return scored(values.denominator == 0)
