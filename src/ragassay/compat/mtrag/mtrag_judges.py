"""Who judged the values of a record: which given ones a step of MT-RAG keeps, who gave them, and
the judge of a step that asks none, whose failures name the steps that must run first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ragassay.base.counts import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import RECORD, Outcome, Reason, Score, Unscored
from ragassay.engine.results.score_columns import judges_of
from ragassay.judges import Failure, Judge, JudgeAnswer, Provenance, Question
from ragassay.judges.judge_answer import evidence_id
from ragassay.judges.questions import ExtractClaims, ReferenceRating, SaysIdk
from ragassay.judges.questions.answering import SaysUnderspecified
from ragassay.judges.reply import R_co
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.mtrag.mtrag_values import explained

_STEP_OF = {
    SaysIdk.kind: "idk",
    SaysUnderspecified.kind: "idk",
    ExtractClaims.kind: "ragas",
    ReferenceRating.kind: "radbench",
}
"""The step that asks a question whose answer conditioning needs, in the order of the steps."""


class GivenValues:
    """Decides which of a record's judged values count, and which are asked for again.

    A step that asks nobody takes all of them, nulls with their reasons included: conditioning then
    treats an answer without claims as it does when all steps run at once. A step that asks does so
    again where a null is no answer (a failure, or a question that another judge could not answer);
    the ledger has the failures that would come again."""

    def __init__(self, fields: Mapping[str, Metric], asks: bool, refresh: bool) -> None:
        self._asks = asks
        self._forgotten: set[str] = set()
        if refresh:
            for name, metric in fields.items():
                if metric.kind == "judge":
                    self._forgotten |= {name, metric.name, *_published(metric)}
            if "idk_eval" in self._forgotten:
                self._forgotten.add("conditional_idk")

    def of(self, sample: Sample) -> Sample:
        """The sample with those of its given values that count."""
        values, why = sample.given, sample.given_unscored
        if self._forgotten:
            values = {name: one for name, one in values.items() if name not in self._forgotten}
        if self._asks and why:
            why = {name: text for name, text in why.items() if _is_answer(text)}
        if values is sample.given and why is sample.given_unscored:
            return sample
        return replace(sample, given=values, given_unscored=why)


def _is_answer(why: str) -> bool:
    return Unscored.of_words(why).reason.excused is Reason.UNDEFINED


def _published(metric: Metric) -> tuple[str, ...]:
    names = getattr(metric, "published", ())
    return (names,) if isinstance(names, str) else tuple(names)


def judge_of_field(metric: Metric, sample: Sample, outcome: Outcome, label: str) -> str | None:
    """The judge of a field, for ``metrics_judge``: the label; empty where no judge gave the value;
    ``None`` where the record's own entry stays."""
    if isinstance(metric, JudgedMetric):
        if outcome.evidence:
            return label
        is_explained = isinstance(outcome, Score) or any(
            explained(sample, name) is not None for name in _published(metric)
        )
        return None if is_explained else ""
    if metric.kind != "judge":
        return None
    who = judges_of(outcome, label) if isinstance(outcome, Score) else ""
    return "" if who == RECORD else who


class UnavailableJudge(Judge):
    """Answers nothing: conditioning uses what earlier steps have written."""

    def __init__(self, step: str) -> None:
        self._step = step
        self._step_of: dict[str, str] = {}
        self._lacking: set[str] = set()
        self._n_lacking = 0

    @property
    def label(self) -> str:
        """Never shown: it gives no answer."""
        return "nobody"

    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        """A failure that names the step that must run first."""
        step = _STEP_OF[question.kind]
        self._step_of[evidence_id(question, repeat)] = step
        detail = f"the step {self._step} asks no judge; run the step {step} first, or the step all"
        return Failure(question, Reason.UNSUPPORTED, detail, Provenance(self.label), repeat)

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Takes in the outcomes of a record. A step is missing where its judgement would have
        counted, not where it was only asked for.
        """
        unscored = (outcome for outcome in outcomes if isinstance(outcome, Unscored))
        lacking = {self._step_of[one] for outcome in unscored for one in outcome.evidence}
        self._lacking |= lacking
        self._n_lacking += bool(lacking)

    def advice(self, total: int) -> str:
        """A sentence about records that lack the values of earlier steps; empty where none does."""
        if not self._lacking:
            return ""
        steps = [step for step in dict.fromkeys(_STEP_OF.values()) if step in self._lacking]
        return (
            f"{share(self._n_lacking, total, 'record')} "
            f"{either(self._n_lacking, 'lacks', 'lack')} values of {', '.join(steps)}, and "
            f"{self._step} asks no judge: run these steps first, or the step all."
        )
