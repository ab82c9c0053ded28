"""A judge: takes every response for an answer, as a baseline for real judges."""

from __future__ import annotations

from typing import Any

from ragassay import Reason
from ragassay.judges import Failure, Judge, JudgeAnswer, JudgeOptions, Provenance, Question
from ragassay.judges.questions import SaysIdk


class Baseline(Judge):
    """Asks nobody."""

    label = "baseline"

    def leaves(self) -> tuple[Judge, ...]:
        """None: nothing is sent."""
        return ()

    async def answer(self, question: Question[Any], repeat: int = 0) -> JudgeAnswer[Any] | Failure:
        """No response says that it does not know; other questions are not answered."""
        made = Provenance(self.label)
        if isinstance(question, SaysIdk):
            return JudgeAnswer(question, SaysIdk.reply(says_idk="no"), made, repeat)
        return Failure(question, Reason.UNSUPPORTED, "a baseline has no answer", made, repeat)


def baseline(name: str, options: JudgeOptions) -> Judge:
    """The judge of ``--judge baseline``; ``name`` is what stands after a colon."""
    del name, options
    return Baseline()
