"""Who judged the values of a record: which given ones a step of MT-RAG keeps, who gave them, and
the judge of a step that asks none, whose failures name the steps that must run first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ragassay.base.counts import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import AND, RECORD, Outcome, Reason, Score, Unscored
from ragassay.engine.results.score_columns import judges_of
from ragassay.judges import Failure, Judge, Provenance, Question, Verdict
from ragassay.judges.questions import ExtractClaims, ReferenceRating, SaysIdk
from ragassay.judges.questions.answering import SaysUnderspecified
from ragassay.judges.reply import R_co
from ragassay.judges.verdict import evidence_id
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
    """The judge of a field, for ``metrics_judge``.

    Returns:
        The label; empty where no judge gave the value; ``None`` where the record's own entry
        stays.
    """
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


class KeptValues:
    """Judged values that a step took from the records, counted by their judge and field."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}

    def add(
        self,
        sample: Sample,
        outcomes: Mapping[str, Outcome],
        judged_by: Mapping[str, str],
        label: str,
    ) -> None:
        """Counts a record's values, except those of the judge who is asked."""
        for name, outcome in outcomes.items():
            if outcome.evidence or name in judged_by:
                continue
            if isinstance(outcome, Score):
                who = AND.join(outcome.by)
            else:
                is_kept = explained(sample, name) is not None
                who = sample.given_by.get(name, RECORD) if is_kept else ""
            if who and who != label:
                self._counts.setdefault(who, Counter())[name] += 1

    def sentences(self, label: str) -> Iterator[str]:
        """A sentence for each judge other than the one that is asked."""
        for who, fields in self._counts.items():
            first, *others = fields.items()
            sentence = f"{first[1]:,} record{'s keep' if first[1] > 1 else ' keeps'} {first[0]}"
            sentence += "".join(f", {n:,} {name}" for name, n in others)
            giver = "of a judge that they do not name" if who == RECORD else f"of {who}"
            yield f"{sentence} {giver}; --refresh asks {label}."


class UnavailableJudge(Judge):
    """Answers nothing: conditioning uses what earlier steps have written."""

    def __init__(self, step: str) -> None:
        self._step = step
        self._step_of: dict[str, str] = {}
        self._lacking: set[str] = set()
        self._n_lacking = 0

    @property
    def label(self) -> str:
        """Never shown: it gives no verdict."""
        return "nobody"

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """A failure that names the step that must run first."""
        step = _STEP_OF[question.kind]
        self._step_of[evidence_id(question, repeat)] = step
        detail = f"the step {self._step} asks no judge; run the step {step} first, or the step all"
        return Failure(question, Reason.UNSUPPORTED, detail, Provenance(self.label), repeat)

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Takes in the outcomes of a record. A step is missing where its verdict would have
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
        names = " and ".join(filter(None, (", ".join(steps[:-1]), steps[-1])))
        missing = f"step{'s' if len(steps) > 1 else ''} {names}"
        return (
            f"{share(self._n_lacking, total, 'record')} "
            f"{either(self._n_lacking, 'lacks', 'lack')} values of the {missing}, and {self._step} "
            f"asks no judge: run the {missing} first, or the step all."
        )
