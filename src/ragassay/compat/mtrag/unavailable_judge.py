"""The judge of a step that asks no judge: its failures name the steps that must run first."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.base.counts import either, share
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.judges import Failure, Judge, Provenance, Question, Verdict
from ragassay.judges.questions import ExtractClaims, ReferenceRating, SaysIdk
from ragassay.judges.questions.answering import SaysUnderspecified
from ragassay.judges.reply import R_co
from ragassay.judges.verdict import evidence_id

_STEP_OF = {
    SaysIdk.kind: "idk",
    SaysUnderspecified.kind: "idk",
    ExtractClaims.kind: "ragas",
    ReferenceRating.kind: "radbench",
}
"""The step that asks a question whose answer conditioning needs, in the order of the steps."""


class UnavailableJudge(Judge):
    """Answers nothing: conditioning uses what earlier steps have written.

    Args:
        step: which asks it.
    """

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
