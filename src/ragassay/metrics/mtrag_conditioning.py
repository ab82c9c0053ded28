"""IDK conditioning: what a value becomes once one knows whether the query has an answer.

`idk_condition` is the whole table (MT-RAG, step 5), row by row:

=============================  =====  ============  ==================
label                          idk 1  idk 0 or 0.5  idk not understood
=============================  =====  ============  ==================
UNANSWERABLE, CONVERSATIONAL   1      0             the value
ANSWERABLE, PARTIAL            0      the value     the value
UNDERSPECIFIED                 1 if ``underspecified_eval`` is 1, else 0
=============================  =====  ============  ==================

The shorter rule of MT-RAG's metrics page (``rule="spec"``) leaves out two cells: an answerable
query with an "I don't know" keeps its value, and so does a conversational one. The published code
treats a missing label as answerable without a word; here it is an error.

That is the pure function. The metrics score no reply that was not understood: where ``idk_eval``
(or ``underspecified_eval``) is given and is none of 0, 0.5 and 1, they are `Unscored`, because
nobody knows then whether the value or a 0 or 1 should stand. A number's text is that number.

A record may bring conditioned values as ``RB_agg_idk`` or ``rb_agg_idk`` and their like. They are
taken only where nothing can be computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from ragassay.errors import InputError
from ragassay.metrics.base import (
    Metric,
    SampleMetric,
    Window,
    missing,
    not_applicable,
    param,
    register,
    scored,
)
from ragassay.metrics.mtrag_aggregate import RBAgg
from ragassay.metrics.mtrag_given import (
    ReferenceJudge,
    ReferencelessFaithfulness,
    given,
    in_range,
    verdict,
)
from ragassay.samples import Answerability, Sample
from ragassay.scores import Outcome, Reason, Score, Unscored

Rule = Literal["paper", "spec"]
Idk = float | str | None
"""An ``idk_eval``: 1, 0.5 or 0; any other text, or ``None``, is a reply that was not understood."""

ABSTAINABLE = (Answerability.UNANSWERABLE, Answerability.CONVERSATIONAL)
"""The labels for which saying "I don't know" is right."""

NO_LABEL = (
    "IDK conditioning needs the task's label: 'answerability' or 'Answerability', in the record or "
    "in input[-1].enrichments"
)
NO_IDK = (
    "whether the answer says 'I don't know' needs a judge, which is not part of this version; give "
    "its verdict as 'idk_eval' in the record's metrics"
)
NO_UNDERSPECIFIED = (
    "an UNDERSPECIFIED query needs a judge, which is not part of this version; give its verdict as "
    "'underspecified_eval' in the record's metrics"
)


def idk_condition(
    value: float,
    idk: Idk,
    answerability: Answerability | str | None,
    rule: Rule = "paper",
    *,
    underspecified: float | None = None,
) -> float:
    """The IDK-conditioned value of a metric.

    Args:
        value: the metric's own value.
        idk: the ``idk_eval`` of the answer.
        answerability: the query's label, in any case.
        rule: ``paper`` for the whole table, ``spec`` for the shorter rule.
        underspecified: for an UNDERSPECIFIED query, whether the answer says so (1 or not).

    Raises:
        InputError: no label, or an unknown one; or an UNDERSPECIFIED query without
            ``underspecified``.
    """
    cell = idk_cell(idk, answerability, rule, underspecified=underspecified)
    return value if cell is None else cell


def idk_cell(
    idk: Idk,
    answerability: Answerability | str | None,
    rule: Rule = "paper",
    *,
    underspecified: float | None = None,
) -> float | None:
    """The table's entry: 1, 0, or ``None`` where the metric's own value stands.

    Raises:
        InputError: see `idk_condition`.
    """
    label = _label(answerability)
    abstained = idk == 1 if idk in (0, 0.5, 1) else None
    if rule == "spec":
        if label is Answerability.UNANSWERABLE and abstained is not None:
            return float(abstained)
        return None
    if label is Answerability.UNDERSPECIFIED:
        if underspecified is None:
            raise InputError(
                "an UNDERSPECIFIED query needs the judge's word on whether the answer says so",
                field="underspecified_eval",
            )
        return float(underspecified == 1)
    if label in ABSTAINABLE:
        return None if abstained is None else float(abstained)
    return 0.0 if abstained else None


def _label(answerability: Answerability | str | None) -> Answerability:
    if answerability is None or answerability == "":
        raise InputError("the label is missing", field="answerability", hint=NO_LABEL + ".")
    try:
        return Answerability(answerability.casefold())
    except ValueError:
        labels = ", ".join(label.upper() for label in Answerability)
        raise InputError(
            f"{answerability!r} is no label", field="answerability", hint=f"There are {labels}."
        ) from None


class _Cell(NamedTuple):
    """The table's entry (``None``: the metric's own value stands), and how it was found."""

    value: float | None
    why: str


@dataclass(frozen=True)
class _Conditioned(Metric):
    rule: Rule = param(
        "paper", "paper: the whole table; spec: the shorter rule of the metrics page"
    )

    base: ClassVar[Metric]
    published: ClassVar[tuple[str, ...]]

    family = "mtrag"
    needs = ("answer", "answerability")
    uses = ("given",)
    source = "Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 5"

    def lacks(self, sample: Sample) -> Unscored | None:
        """Answer, label and verdict, and the metric's own value where that would stand."""
        lacking = missing(sample, ("answer",))
        if lacking is not None or self._brought(sample) is not None:
            return lacking
        cell = self._cell(sample)
        if isinstance(cell, Unscored):
            return cell
        return self.base.lacks(sample) if cell.value is None else None

    def score_window(self, window: Window) -> Sequence[Outcome]:
        """The base metric's outcomes, each sent through the table."""
        return [
            missing(sample, ("answer",)) or self._condition(sample, value)
            for sample, value in zip(window.samples, window.outcomes(self.base), strict=True)
        ]

    def _condition(self, sample: Sample, value: Outcome) -> Outcome:
        found = self._by_table(self._cell(sample), value)
        if isinstance(found, Score):
            return found
        brought = self._brought(sample)
        if brought is None:
            return found
        values = in_range(self, self.published[0], brought)
        if isinstance(values, Unscored):
            return values
        return scored(values[0], "the conditioned value that the record brings")

    def _brought(self, sample: Sample) -> list[Any] | None:
        """The conditioned value that the record brings; it follows the paper's table."""
        if sample.answerability is None or self.rule != "paper":
            return None
        values = given(sample, *self.published, self.name)
        return None if values is None else values[:1]

    def _cell(self, sample: Sample) -> _Cell | Unscored:
        label = sample.answerability
        if label is None:
            return Unscored(Reason.MISSING_INPUT, NO_LABEL)
        if label is Answerability.UNDERSPECIFIED and self.rule == "paper":
            said = verdict(sample, "underspecified_eval")
            if said is None:
                return Unscored(Reason.NEEDS_EXTRA, NO_UNDERSPECIFIED)
            if isinstance(said, Unscored):
                return said
            value = idk_cell(None, label, underspecified=said)
            return _Cell(value, f"{label.upper()}, underspecified_eval {said}")
        if self.rule == "spec" and label is not Answerability.UNANSWERABLE:
            return _Cell(None, f"{label.upper()}, which the shorter rule leaves alone")
        idk = idk_of(sample)
        if isinstance(idk, Unscored):
            return idk
        return _Cell(idk_cell(idk, label, self.rule), f"{label.upper()}, idk_eval {idk}")

    @staticmethod
    def _by_table(cell: _Cell | Unscored, value: Outcome) -> Outcome:
        if isinstance(cell, Unscored):
            return cell
        if isinstance(value, Unscored):
            return value if cell.value is None else scored(cell.value, cell.why)
        if cell.value is None:
            return scored(value.value, f"{cell.why}: the metric's own value stands")
        return scored(cell.value, f"{cell.why}: in place of {value.value:.4g}")


def idk_of(sample: Sample) -> float | Unscored:
    """The record's ``idk_eval``, or what follows from its ``conditional_idk`` and label.

    From the latter only a full "I don't know" can be told; 0 then stands for 0 or 0.5, which the
    table treats alike.
    """
    idk = verdict(sample, "idk_eval")
    if idk is not None:
        return idk
    right, label = given(sample, "conditional_idk"), sample.answerability
    if right is None or right[0] not in (0, 1) or label in (None, Answerability.UNDERSPECIFIED):
        return Unscored(Reason.NEEDS_EXTRA, NO_IDK)
    return float((label in ABSTAINABLE) == bool(right[0]))


@register
@dataclass(frozen=True)
class RBAggIdk(_Conditioned):
    """``rb_agg`` after IDK conditioning: the paper's RBalg."""

    name = "rb_agg_idk"
    title = "RB_agg, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RB_agg_idk, RBalg)"
    recommended_for = "benchmarks with unanswerable queries, without a judge of quality"
    base = RBAgg()
    published = ("RB_agg_idk", "RB_agg_idk_underspecified")


@register
@dataclass(frozen=True)
class RBLlmIdk(_Conditioned):
    """``rb_llm`` after IDK conditioning: the paper's RBllm."""

    name = "rb_llm_idk"
    title = "RB_llm, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RB_llm_idk, RBllm)"
    kind = "judge"
    recommended_for = "benchmarks with unanswerable queries: MT-RAG's main figure"
    base = ReferenceJudge()
    published = ("RB_llm_idk", "RB_llm_idk_underspecified")


@register
@dataclass(frozen=True)
class RLFIdk(_Conditioned):
    """``rl_f`` after IDK conditioning: the paper's RLF."""

    name = "rl_f_idk"
    title = "RL_F, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RL_F_idk, RLF)"
    kind = "judge"
    recommended_for = "faithfulness where queries may be unanswerable"
    base = ReferencelessFaithfulness()
    published = ("RL_F_idk", "RL_F_idk_underspecified")


@register
@dataclass(frozen=True)
class AnswerabilityAccuracy(SampleMetric):
    """Whether the answer says "I don't know" exactly when it should (``conditional_idk``).

    It should for unanswerable and conversational queries, by a full "I don't know" (idk 1).
    Queries labelled underspecified ask for something else and are left out.
    """

    name = "answerability_accuracy"
    title = "Says 'I don't know' exactly when it should (MT-RAG answerability accuracy)"
    family = "mtrag"
    needs = ("answer", "answerability")
    uses = ("given",)
    source = "Katsis et al. 2025, MTRAG"
    kind = "judge"
    recommended_for = "knowing when not to answer"

    def lacks(self, sample: Sample) -> Unscored | None:
        """Answer, a label that asks for an answer or for none, and the verdict."""
        lacking = super().lacks(sample)
        if lacking is not None:
            return lacking
        if sample.answerability is Answerability.UNDERSPECIFIED:
            return not_applicable("the label UNDERSPECIFIED asks for a question back")
        idk = idk_of(sample)
        return idk if isinstance(idk, Unscored) else None

    def score_sample(self, sample: Sample) -> Outcome:
        """True or false."""
        return scored((idk_of(sample) == 1) == (sample.answerability in ABSTAINABLE))
