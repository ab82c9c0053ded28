"""Metrics after IDK conditioning: 1 for a right "I don't know", 0 for a wrong one, else their own
value. `idk_condition` is the whole table (MT-RAG, step 5), row by row:

=============================  =====  ============  ==================
label                          idk 1  idk 0 or 0.5  idk not understood
=============================  =====  ============  ==================
UNANSWERABLE, CONVERSATIONAL   1      0             the value
ANSWERABLE, PARTIAL            0      the value     the value
UNDERSPECIFIED                 1 if ``underspecified_eval`` is 1, else 0
=============================  =====  ============  ==================

The shorter rule of MT-RAG's metrics page (``rule="spec"``) knows the first row alone, of
UNANSWERABLE queries. The published code treats a missing label as answerable; here it is an error.

The table decides where the own value is missing for a reason in the sample (no claims, nothing
retrieved), not where it could not be computed or asked for (no model, an unreachable server): else
the mean would consist of the table's 0s and 1s alone. A record's own conditioned values count only
where its other values do not give them, as published ones are wrong where the label was not found
(the benchmark's issue 23).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from ragassay.base.errors import CountedFact, InputError
from ragassay.base.sample import ABSTAINING, Answerability, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.metric import Metric, Window, missing, not_applicable, param, register
from ragassay.metrics.mtrag.mtrag_aggregate import ByBertScore, RBAgg
from ragassay.metrics.mtrag.mtrag_judged import (
    IdkEval,
    ReferenceJudge,
    ReferencelessFaithfulness,
    UnderspecifiedEval,
)
from ragassay.metrics.mtrag.mtrag_values import GIVEN, READ, ROUNDING, Given, givers, values_of
from ragassay.models.weights.weight_files import BY_MODEL

Rule = Literal["paper", "spec"]
Idk = float | str | None
"""An ``idk_eval``: 1, 0.5 or 0; any other text, or ``None``, is a reply that was not understood."""

NO_LABEL = (
    "IDK conditioning needs the task's label: 'answerability' or 'Answerability', in the record or "
    "in input[-1].enrichments"
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
    """The table's entry for an answer: 1, 0, or ``None`` where the metric's own value counts."""
    if answerability is None or answerability == "":
        raise InputError("the label is missing", field="answerability", hint=NO_LABEL + ".")
    labels = ", ".join(label.upper() for label in Answerability)
    if (label := answerability.casefold()) not in set(Answerability):
        raise InputError(
            f"{answerability!r} is not a label", field="answerability", hint=f"There are {labels}."
        )
    abstained = idk == 1 if idk in (0, 0.5, 1) else None
    if rule == "spec":
        decides = label == Answerability.UNANSWERABLE and abstained is not None
        return float(abstained is True) if decides else None
    if label == Answerability.UNDERSPECIFIED:
        if underspecified is None:
            raise InputError(
                "an UNDERSPECIFIED query needs the judge's word on whether the answer says so",
                field="underspecified_eval",
            )
        return float(underspecified == 1)
    if label in ABSTAINING:
        return None if abstained is None else float(abstained)
    return 0.0 if abstained else None


METRICS_RULE = "metrics_rule"
"""Beside a record's ``metrics``: the rule of IDK conditioning, where it is not the paper's
table."""

_SHORTER = (
    "{n} {value after IDK conditioning follows|values after IDK conditioning follow} the shorter "
    "rule of MT-RAG's metrics page (rule=spec)."
)


@dataclass(frozen=True)
class Conditioned(Given):
    """A metric after IDK conditioning.

    Formula: 1 or 0 where the table of answerability and "I don't know" decides, else the metric's
        own value
    Misleads where: with many unanswerable queries it measures refusals more than quality
    Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 5
    """

    rule: Rule = param(
        "paper", "paper: the whole table; spec: the shorter rule of the metrics page", beside=True
    )
    given: bool = param(True, GIVEN, beside=True)

    family = "mtrag"
    needs = ("answer", "answerability")
    uses = ("query", "history", "passages", "references", "given")
    kind = "judge"
    version = 2
    rule_of_value = "a number from 0 to 1, and 0 or 1 where the label leaves no other"

    of: ClassVar[type[RBAgg | ReferenceJudge | ReferencelessFaithfulness]]
    """The class of the metric that is conditioned."""

    @property
    def base(self) -> RBAgg | ReferenceJudge | ReferencelessFaithfulness:
        """The metric that is conditioned, with the parameters that both have."""
        shared = {spec.name: getattr(self, spec.name) for spec in fields(self.of)}
        return self.of(**shared)

    @property
    def idk(self) -> IdkEval:
        """The metric with the judgement on "I don't know"."""
        return IdkEval(self.given)

    @property
    def underspecified(self) -> UnderspecifiedEval:
        """The metric with the judgement on underspecified queries."""
        return UnderspecifiedEval(self.given, labelled=True)

    @cached_property
    def inputs(self) -> tuple[Metric, ...]:  # type: ignore[override]  # read only
        return (self.idk, self.underspecified, self.base)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without an answer, a label, a judgement, or (unless the table decides) the own
        value; one that this installation cannot compute is always lacking."""
        lacking = missing(sample, ("answer",))
        if lacking is not None or isinstance(self.brought(sample), Score):
            return lacking
        label = sample.answerability
        if label is None:
            return Unscored(Reason.MISSING_INPUT, NO_LABEL)
        own = self.base.lacks(sample)
        if self._ignores_idk(label) or (own is not None and _at_large(own.reason)):
            return own
        if label is Answerability.UNDERSPECIFIED:
            return unread(self.underspecified, sample)
        brought, idk = self.idk.brought(sample), idk_of(sample) if self.given else None
        idk = brought.number if isinstance(brought, Score) else idk
        lacking = None if idk is not None else unread(self.idk, sample)
        return lacking if lacking is not None or label in ABSTAINING or idk == 1 else own

    def score_window(self, window: Window) -> Sequence[Outcome]:
        outcomes_of = (window.outcomes(metric) for metric in self.inputs)
        return [
            missing(sample, ("answer",)) or self._condition(sample, *outcomes)
            for sample, *outcomes in zip(window.samples, *outcomes_of, strict=True)
        ]

    def _condition(
        self, sample: Sample, idk: Outcome, underspecified: Outcome, value: Outcome
    ) -> Outcome:
        label = sample.answerability
        if label is None:
            return Unscored(Reason.MISSING_INPUT, NO_LABEL)
        outcome = self._by_table(sample, label, idk, underspecified, value)
        brought = self.brought(sample)
        if isinstance(outcome, Score) and isinstance(brought, Unscored):
            return replace(outcome, explanation=f"{outcome.explanation}; {brought.detail}")
        decided = isinstance(outcome, Score) and not outcome.evidence
        return brought if isinstance(brought, Score) and not decided else outcome

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many given values are impossible; how many values follow the shorter rule."""
        yield from super().remarks(window)
        yield CountedFact(_SHORTER, len(window.samples) if self.rule == "spec" else 0)

    def taken_over(self, sample: Sample, name: str, values: Sequence[Any]) -> Outcome:
        """Also `Unscored` where the table gives nothing but 0 and 1 for the label."""
        outcome = super().taken_over(sample, name, values)
        value = (outcome.number or 0.0) if isinstance(outcome, Score) else 0.0
        decided = sample.answerability in (*ABSTAINING, Answerability.UNDERSPECIFIED)
        if not decided or min(value, 1.0 - value) <= ROUNDING:
            return outcome
        return Unscored(
            Reason.UNDEFINED,
            f"the given {name}, {value:g}, contradicts the label, which allows 0 or 1",
        )

    def brought(self, sample: Sample) -> Outcome | None:
        """A conditioned value of a record follows the paper's table."""
        if sample.answerability is None or self.rule != "paper":
            return None
        by_paper = sample.metadata.get(METRICS_RULE, self.rule) == self.rule
        return super().brought(sample) if by_paper else None

    def read_score(self, value: float, sample: Sample) -> Score:
        by = givers(sample, *self.published)
        return Score(value, {}, f"the conditioned value, {READ}", given=True, by=by)

    def _ignores_idk(self, label: Answerability) -> bool:
        return self.rule == "spec" and label is not Answerability.UNANSWERABLE

    def _by_table(
        self, sample: Sample, label: Answerability, idk: Outcome, underspecified: Outcome,
        value: Outcome,
    ) -> Outcome:  # fmt: skip
        """The conditioned outcome; its evidence is that of what decided it, ``by`` names whoever
        gave the judgement and the value."""
        judge_answer: Outcome
        if self._ignores_idk(label):
            judge_answer = Score(0.0, explanation="which the shorter rule leaves alone")
        elif label is Answerability.UNDERSPECIFIED:
            judge_answer = _naming("underspecified_eval", underspecified)
        else:
            judge_answer = idk_answer(sample, idk, given=self.given)
        evidence = tuple(dict.fromkeys((*judge_answer.evidence, *value.evidence)))
        if isinstance(value, Unscored) and _at_large(value.reason):
            return replace(value, evidence=evidence)
        if isinstance(judge_answer, Unscored):
            return judge_answer
        cell = idk_cell(judge_answer.number, label, self.rule, underspecified=judge_answer.number)
        why = f"{label.upper()}, {judge_answer.explanation}"
        by = value.by if isinstance(value, Score) else ()
        by = tuple(dict.fromkeys((*judge_answer.by, *by)))
        if cell is not None:
            instead = f": in place of {value.value:.4g}" if isinstance(value, Score) else ""
            given = judge_answer.given and not judge_answer.evidence
            return Score(cell, {}, why + instead, judge_answer.evidence, given=given, by=by)
        if isinstance(value, Unscored):
            return replace(value, evidence=evidence)
        given = (judge_answer.given or value.given) and not evidence
        kept = f"own value, {READ}, counts" if value.given else "own value counts"
        explanation = f"{why}: the metric's {kept}"
        return Score(value.value, {}, explanation, evidence, given=given, by=by)


def _at_large(reason: Reason) -> bool:
    """Whether a value is missing for a reason that concerns many samples, whatever they hold."""
    return reason.passing or reason in BY_MODEL or reason is Reason.UNSUPPORTED


def _naming(name: str, outcome: Outcome) -> Outcome:
    """The same outcome, with an explanation, or a detail, that names the metric it comes from."""
    if isinstance(outcome, Unscored):
        return replace(outcome, detail=f"{name} is unscored: {outcome.detail}")
    read = f" {READ}" if outcome.given else ""
    return replace(outcome, explanation=f"{name} {outcome.number}{read}")


def idk_answer(sample: Sample, idk: Outcome, *, given: bool) -> Outcome:
    """The judgement on "I don't know": what follows from the record (`idk_of`) where ``given`` is
    set, else the outcome of ``idk_eval``."""
    own = idk_of(sample) if given else None
    if own is None:
        return _naming("idk_eval", idk)
    explanation = f"idk_eval {own} by the conditional_idk {READ}"
    return Score(own, {}, explanation, given=True, by=givers(sample, "conditional_idk"))


def unread(metric: IdkEval | UnderspecifiedEval, sample: Sample) -> Unscored | None:
    """Why there can be no judgement: a missing part or an invalid value; else ``None``."""
    brought = metric.brought(sample)
    if isinstance(brought, Unscored):
        return _naming(metric.name, brought)  # type: ignore[return-value]
    return metric.lacks(sample)


def idk_of(sample: Sample) -> float | None:
    """The ``idk_eval`` that follows from the record's ``conditional_idk`` and label (0 for 0 or
    0.5); ``None`` where it has none, or brings an ``idk_eval`` of its own."""
    right, label = values_of(sample, "conditional_idk"), sample.answerability
    if right is None or right[0] not in (0, 1) or label in (None, Answerability.UNDERSPECIFIED):
        return None
    if values_of(sample, "idk_eval") is not None:
        return None
    return float((label in ABSTAINING) == bool(right[0]))


@register
class RBAggIdk(ByBertScore, Conditioned):
    """RB_agg, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RB_agg_idk, RBalg)."""

    name = "rb_agg_idk"
    published = ("RB_agg_idk", "RB_agg_idk_underspecified", name)
    of = RBAgg


@register
class RBLlmIdk(Conditioned):
    """RB_llm, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RB_llm_idk, RBllm)."""

    name = "rb_llm_idk"
    published = ("RB_llm_idk", "RB_llm_idk_underspecified", name)
    of = ReferenceJudge


@register
class RLFIdk(Conditioned):
    """RL_F, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RL_F_idk, RLF)."""

    name = "rl_f_idk"
    published = ("RL_F_idk", "RL_F_idk_underspecified", name)
    of = ReferencelessFaithfulness


@register
class AnswerabilityAccuracy(Metric):
    """Whether the answer says "I don't know" exactly when it should.

    It should for unanswerable and conversational queries, by a full "I don't know" (idk 1). Queries
    labelled underspecified call for a question back and are left out.

    Formula: 1 if the answer says "I don't know" exactly where it should, else 0
    Misleads where: in a set with few unanswerable queries, a system that always answers scores high
    Source: Katsis et al. 2025, MTRAG
    """

    given: bool = param(True, GIVEN, beside=True)

    name = "answerability_accuracy"
    says = "flag"
    family = "mtrag"
    needs = ("answer", "answerability")
    uses = ("query", "history", "given")
    kind = "judge"

    @cached_property
    def inputs(self) -> tuple[Metric, ...]:  # type: ignore[override]  # read only
        return (IdkEval(self.given),)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without an answer, a label other than UNDERSPECIFIED, or what the judgement
        needs."""
        lacking = super().lacks(sample)
        if lacking is not None:
            return lacking
        if sample.answerability is Answerability.UNDERSPECIFIED:
            return not_applicable("the label UNDERSPECIFIED calls for a clarifying question")
        if self.given and idk_of(sample) is not None:
            return None
        return unread(IdkEval(self.given), sample)

    def score_window(self, window: Window) -> Sequence[Outcome]:
        judge_answers = window.outcomes(*self.inputs)
        return [
            self.lacks(sample) or self._of(sample, idk)
            for sample, idk in zip(window.samples, judge_answers, strict=True)
        ]

    def _of(self, sample: Sample, idk: Outcome) -> Outcome:
        """Whether the judgement fits the label."""
        judge_answer = idk_answer(sample, idk, given=self.given)
        if isinstance(judge_answer, Unscored):
            return judge_answer
        right = (judge_answer.number == 1) == (sample.answerability in ABSTAINING)
        return replace(judge_answer, value=right, parts={})
