"""Metrics after IDK conditioning: their value corrected by whether the query has an answer
(`ragassay.metrics.mtrag.mtrag_idk_table`).

Where a reply was not understood, there is no verdict and the metrics are `Unscored`: it is unknown
then whether the value, a 0 or a 1 should stand.

The table decides where the metric's value is missing for a reason in the sample (no claims, nothing
retrieved, a reply that was refused or not understood). Where the value could not be computed or
asked for at all (no model, a judge that does not answer such questions, an unreachable server, the
budget spent), the conditioned value is `Unscored` with that reason: otherwise the mean would
consist of the table's 0s and 1s alone.

The verdicts are those of ``idk_eval`` and ``underspecified_eval``, the value is the base metric's;
each is the record's own or a judge's. Where the record brings only ``conditional_idk``, a full "I
don't know" follows from it and the label, and no verdict is needed.

A record may also bring conditioned values (``RB_agg_idk``, ``rb_agg_idk`` and the like), by the
paper's table unless ``metrics_rule`` beside them names the shorter rule. Published
ones are wrong where the label was not found (the benchmark's issue 23). So they count only where
the record's other values do not give them; but they are preferred to asking a judge now, and count
where the value could not be computed. A value that the table cannot give for the record's label and
verdict (0.4 of an unanswerable query) is never taken: it is counted, reported, and computed anew.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ragassay.base.errors import CountedFact
from ragassay.base.sample import ABSTAINING, Answerability, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.metric import Metric, missing, not_applicable, register
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window
from ragassay.metrics.mtrag.mtrag_aggregate import ByBertScore, RBAgg
from ragassay.metrics.mtrag.mtrag_given import (
    GIVEN,
    READ,
    ROUNDING,
    Given,
    givers,
    values_of,
)
from ragassay.metrics.mtrag.mtrag_idk_table import NO_LABEL, Rule, idk_cell
from ragassay.metrics.mtrag.mtrag_judged import (
    IdkEval,
    ReferenceJudge,
    ReferencelessFaithfulness,
    UnderspecifiedEval,
)
from ragassay.models.weights.weight_files import BY_MODEL

METRICS_RULE = "metrics_rule"
"""Beside a record's ``metrics``: the rule of IDK conditioning, where it is not the paper's
table."""

_CONTRADICTED = (
    "{n} given {value contradicts|values contradict} the label or another value of the same "
    "record, as values do that were made without the label. {It was|They were} not taken, "
    "but made anew by the table of IDK conditioning."
)


_SHORTER = (
    "{n} {value after IDK conditioning follows|values after IDK conditioning follow} the shorter "
    "rule of MT-RAG's metrics page (rule=spec)."
)


class _Cell(NamedTuple):
    """The table's entry (``None``: the metric's own value stands), and how it was found.

    ``given``: by a verdict that the record brings; ``by``: who gave that verdict.
    """

    value: float | None
    why: str
    evidence: tuple[str, ...] = ()
    given: bool = False
    by: tuple[str, ...] = ()


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

    @property
    @abstractmethod
    def base(self) -> RBAgg | ReferenceJudge | ReferencelessFaithfulness:
        """The metric that is conditioned."""

    @property
    def idk(self) -> IdkEval:
        """The metric with the verdict on "I don't know"."""
        return IdkEval(self.given)

    @property
    def underspecified(self) -> UnderspecifiedEval:
        """The metric with the verdict on underspecified queries."""
        return UnderspecifiedEval(self.given, labelled=True)

    @property
    def inputs(self) -> tuple[Metric, ...]:
        return (self.idk, self.underspecified, self.base)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without an answer, a label, a verdict, or (unless the table decides) the own
        value.

        An own value that this installation cannot compute is always lacking.
        """
        lacking = missing(sample, ("answer",))
        stands = self.brought(sample) is not None and self.contradicts(sample) is None
        if lacking is not None or stands:
            return lacking
        label = sample.answerability
        if label is None:
            return Unscored(Reason.MISSING_INPUT, NO_LABEL)
        own = self.base.lacks(sample)
        if self._ignores_idk(label) or (own is not None and _at_large(own.reason)):
            return own
        if label is Answerability.UNDERSPECIFIED:
            return unread(self.underspecified, sample)
        idk = idk_of(sample) if self.given else None
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
        outcome = _by_table(self._cell(sample, label, idk, underspecified), value)
        brought, wrong = self.brought(sample), self.contradicts(sample)
        problem = brought.detail if isinstance(brought, Unscored) else ""
        if wrong is not None:
            problem = f"the given {self.published[0]}, {wrong:g}, contradicts the label or a value"
            problem += " beside it"
        if problem and isinstance(outcome, Score):
            outcome = replace(outcome, explanation=f"{outcome.explanation}; {problem}")
        decided = isinstance(outcome, Score) and not outcome.evidence
        return outcome if decided or brought is None or wrong is not None else brought

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many given values contradict the table, and how many are impossible under any; how
        many values follow the shorter rule."""
        n = sum(self.contradicts(sample) is not None for sample in window.samples)
        shorter = len(window.samples) if self.rule == "spec" else 0
        yield CountedFact(_CONTRADICTED, n)
        yield from super().remarks(window)
        yield CountedFact(_SHORTER, shorter)

    def contradicts(self, sample: Sample) -> float | None:
        """The conditioned value that the record brings, where the table cannot give it; else
        ``None``."""
        brought = self.brought(sample)
        possible = self._possible(sample) if isinstance(brought, Score) else None
        if possible is None or not isinstance(brought, Score):
            return None
        value = brought.number or 0.0
        return None if any(abs(value - one) <= ROUNDING for one in possible) else value

    def _possible(self, sample: Sample) -> tuple[float, ...] | None:
        """The values that the table can give for the record; ``None`` where any value is
        possible."""
        label = sample.answerability
        assert label is not None
        own = self.base.brought(sample)
        stands = (own.number or 0.0,) if isinstance(own, Score) else None
        if label is Answerability.UNDERSPECIFIED:
            verdict = self.underspecified.brought(sample)
        else:
            implied_idk = idk_of(sample)
            verdict = self.idk.brought(sample) if implied_idk is None else Score(implied_idk)
        if isinstance(verdict, Unscored):
            return None
        if verdict is not None:
            cell = idk_cell(verdict.number, label, underspecified=verdict.number)
            return stands if cell is None else (cell,)
        if label in (*ABSTAINING, Answerability.UNDERSPECIFIED):
            return (0.0, 1.0)
        return None if stands is None else (0.0, *stands)

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

    def _cell(
        self, sample: Sample, label: Answerability, idk: Outcome, underspecified: Outcome
    ) -> _Cell | Unscored:
        if self._ignores_idk(label):
            return _Cell(None, f"{label.upper()}, which the shorter rule leaves alone")
        name, verdict, implied = "idk_eval", idk, ""
        if label is Answerability.UNDERSPECIFIED:
            name, verdict = "underspecified_eval", underspecified
        elif self.given and (own := idk_of(sample)) is not None:
            verdict = Score(own, given=True, by=givers(sample, "conditional_idk"))
            implied = " by the conditional_idk"
        if isinstance(verdict, Unscored):
            return naming_metric(name, verdict)
        value = idk_cell(verdict.number, label, self.rule, underspecified=verdict.number)
        why = f"{label.upper()}, {name} {verdict.number}{implied}"
        why += f" {READ}" if verdict.given else ""
        return _Cell(value, why, verdict.evidence, verdict.given, verdict.by)


def _at_large(reason: Reason) -> bool:
    """Whether a value is missing for a reason that concerns many samples, whatever they hold."""
    return reason.passing or reason in BY_MODEL or reason is Reason.UNSUPPORTED


def _by_table(cell: _Cell | Unscored, value: Outcome) -> Outcome:
    """The conditioned outcome; its evidence is that of the verdict or value that decided it.

    ``by`` names whoever gave the verdict and the value, even where the table decides, because the
    mean depends on both.
    """
    evidence = tuple(dict.fromkeys((*cell.evidence, *value.evidence)))
    by = () if isinstance(cell, Unscored) else cell.by
    if isinstance(value, Score):
        by = tuple(dict.fromkeys((*by, *value.by)))
    if isinstance(value, Unscored) and _at_large(value.reason):
        return replace(value, evidence=evidence)
    if isinstance(cell, Unscored):
        return cell
    if cell.value is not None:
        instead = f": in place of {value.value:.4g}" if isinstance(value, Score) else ""
        given = cell.given and not cell.evidence
        return Score(cell.value, {}, cell.why + instead, cell.evidence, given=given, by=by)
    if isinstance(value, Unscored):
        return replace(value, evidence=evidence)
    given = (cell.given or value.given) and not evidence
    stands = f"own value, {READ}, stands" if value.given else "own value stands"
    explanation = f"{cell.why}: the metric's {stands}"
    return Score(value.value, {}, explanation, evidence, given=given, by=by)


def naming_metric(name: str, outcome: Unscored) -> Unscored:
    """The same outcome with a detail that names the metric it comes from."""
    return replace(outcome, detail=f"{name} is unscored: {outcome.detail}")


def unread(metric: IdkEval | UnderspecifiedEval, sample: Sample) -> Unscored | None:
    """Why there can be no verdict: the sample lacks something, or brings an invalid value; else
    ``None``."""
    brought = metric.brought(sample)
    if isinstance(brought, Unscored):
        return naming_metric(metric.name, brought)
    return metric.lacks(sample)


def idk_of(sample: Sample) -> float | None:
    """The ``idk_eval`` that follows from the record's ``conditional_idk`` and label.

    Only a full "I don't know" follows from them; 0 then stands for 0 or 0.5, which the table treats
    alike. ``None`` where the record has no ``conditional_idk``, or brings an ``idk_eval`` of its
    own.
    """
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

    @property
    def base(self) -> RBAgg:
        return RBAgg(**self.shared_parameters)


@register
class RBLlmIdk(Conditioned):
    """RB_llm, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RB_llm_idk, RBllm)."""

    name = "rb_llm_idk"
    published = ("RB_llm_idk", "RB_llm_idk_underspecified", name)

    @property
    def base(self) -> ReferenceJudge:
        return ReferenceJudge(self.given)


@register
class RLFIdk(Conditioned):
    """RL_F, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RL_F_idk, RLF)."""

    name = "rl_f_idk"
    published = ("RL_F_idk", "RL_F_idk_underspecified", name)

    @property
    def base(self) -> ReferencelessFaithfulness:
        return ReferencelessFaithfulness(self.given)


@register
class AnswerabilityAccuracy(Metric):
    """Says 'I don't know' exactly when it should (MT-RAG answerability accuracy).

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

    @property
    def inputs(self) -> tuple[Metric, ...]:
        return (IdkEval(self.given),)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without an answer, a label other than UNDERSPECIFIED, or what the verdict
        needs."""
        lacking = super().lacks(sample)
        if lacking is not None:
            return lacking
        if sample.answerability is Answerability.UNDERSPECIFIED:
            return not_applicable("the label UNDERSPECIFIED asks for a question back")
        if self.given and idk_of(sample) is not None:
            return None
        return unread(IdkEval(self.given), sample)

    def score_window(self, window: Window) -> Sequence[Outcome]:
        verdicts = window.outcomes(IdkEval(self.given))
        return [
            self.lacks(sample) or self._of(sample, idk)
            for sample, idk in zip(window.samples, verdicts, strict=True)
        ]

    def _of(self, sample: Sample, idk: Outcome) -> Outcome:
        """Whether the verdict fits the label."""
        own = idk_of(sample) if self.given else None
        should = sample.answerability in ABSTAINING
        if own is not None:
            explanation, by = f"conditional_idk, {READ}", givers(sample, "conditional_idk")
            return Score((own == 1) == should, explanation=explanation, given=True, by=by)
        if isinstance(idk, Unscored):
            return naming_metric("idk_eval", idk)
        right = (idk.number == 1) == should
        explanation = f"idk_eval {idk.number}, {READ}" if idk.given else f"idk_eval {idk.number}"
        return Score(
            right, explanation=explanation, evidence=idk.evidence, given=idk.given, by=idk.by
        )
