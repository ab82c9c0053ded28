"""The embedded judge: deterministic, no model, no network.

It answers the built-in questions that text alone can answer, from overlap, structure and phrases,
and says ``unsupported`` to the rest. One file a kind of evidence; `answers` holds who answers what.
"""

from __future__ import annotations

from typing import Any

from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.offline.answers import answer_to
from ragassay.judges.question import Question, R_co
from ragassay.judges.verdict import Failure, Provenance, Verdict
from ragassay.scores import Reason

VERSION = 1
"""Raised when any of its answers changes."""

LABEL = f"offline-lexical/{VERSION}"


class OfflineJudge(Judge):
    """Answers by rules about words."""

    @property
    def label(self) -> str:
        """``offline-lexical/VERSION``."""
        return LABEL

    def leaves(self) -> tuple[Judge, ...]:
        """None: nothing is sent."""
        return ()

    def known(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure:
        """The answer itself: it takes no asking."""
        return self._answer(question, repeat)

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """The rules' answer, the same for every repeat; `UNSUPPORTED` where there are none."""
        return self._answer(question, repeat)

    def _answer(self, question: Question[R_co], repeat: int) -> Verdict[R_co] | Failure:
        made = Provenance(LABEL, attempts=0)
        found = answer_to(question)
        if found is None:
            detail = f"the offline judge has no answer to {question.kind}; name an LLM with --judge"
            return Failure(question, Reason.UNSUPPORTED, detail, made, repeat)
        return Verdict(question, question.check(found), made, repeat)


def offline_asker() -> Asker:
    """An asker of the embedded judge."""
    return Asker(OfflineJudge())


__all__ = ["LABEL", "OfflineJudge", "offline_asker"]
