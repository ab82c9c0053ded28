"""A generator and a checker as one judge: one ledger, one budget, one count of what was paid."""

from __future__ import annotations

from typing import Any

from ragassay.judges import Failure, Judge, Question, Verdict
from ragassay.judges.panel import JudgeGroup
from ragassay.judges.questions.writing import WriteAnswer, WriteQuery
from ragassay.judges.reply import R_co

WRITES = (WriteQuery, WriteAnswer)
"""What the generator is asked; the checker is asked everything else."""


class TwoJudges(JudgeGroup):
    """Hands each question to the generator or to the checker.

    Args:
        generator: writes queries and answers; ``None``: rules do that, and no judge is asked.
    """

    def __init__(self, generator: Judge | None, checker: Judge) -> None:
        super().__init__(filter(None, (generator, checker)))
        self._generator, self._checker = generator or checker, checker

    def _for(self, question: Question[Any]) -> Judge:
        return self._generator if isinstance(question, WRITES) else self._checker

    @property
    def label(self) -> str:
        """Both labels."""
        return " + ".join(one.label for one in self.members)

    @property
    def width(self) -> int:
        """The smaller one."""
        return min(one.width for one in self.members)

    def requests(self, question: Question[Any], repeat: int = 0) -> tuple[tuple[Judge, int], ...]:
        """Those of the judge that is asked."""
        return self._for(question).requests(question, repeat)

    def known(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure | None:
        """What the judge that is asked knows already."""
        return self._for(question).known(question, repeat)

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """The verdict of the judge that is asked."""
        return await self._for(question).answer(question, repeat)
