"""Answerability accuracy: "I don't know" exactly where it should be said."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.base.sample import ABSTAINING, Answerability, Sample
from ragassay.base.score import Outcome, Score, Unscored
from ragassay.metrics.core.metric import Metric, not_applicable, register
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window
from ragassay.metrics.mtrag.mtrag_conditioning import idk_of, naming_metric, unread
from ragassay.metrics.mtrag.mtrag_given import GIVEN, READ, givers
from ragassay.metrics.mtrag.mtrag_judged import IdkEval


@register
class AnswerabilityAccuracy(Metric):
    """Says 'I don't know' exactly when it should (MT-RAG answerability accuracy).

    It should for unanswerable and conversational queries, by a full "I don't know" (idk 1). Queries
    labelled underspecified call for a question back and are left out.

    Formula: 1 if the answer says "I don't know" exactly where it should, else 0
    Misleads where: in a set with few unanswerable queries, a system that always answers scores high
    Good for: knowing when not to answer
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
