"""The embedded judge itself."""

from __future__ import annotations

from typing import Any

from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.offline.cut_texts import as_far_as_read, too_long
from ragassay.judges.offline.language import LONGEST
from ragassay.judges.offline.rules import answer_to
from ragassay.judges.question import Question
from ragassay.judges.reply import Lost, R_co
from ragassay.judges.verdict import Failure, Provenance, Verdict
from ragassay.scores import Reason

VERSION = 2
"""Raised when any of its answers changes."""

LABEL = f"offline-lexical/{VERSION}"


class OfflineJudge(Judge):
    """Answers by rules about words.

    Of a text it reads the first `LONGEST` characters, and does not say what is absent from a longer
    one (`as_far_as_read`).
    """

    def __init__(self) -> None:
        self._too_long: set[int] = set()

    @property
    def label(self) -> str:
        """``offline-lexical/VERSION``."""
        return LABEL

    def leaves(self) -> tuple[Judge, ...]:
        """None: nothing is sent."""
        return ()

    def known(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure:
        """The answer itself, because it takes no request.

        Args:
            question: that is asked.
            repeat: which time it is asked, from 0.
        """
        return self._answer(question, repeat)

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """The answer by the rules; a failure with `UNSUPPORTED` where there is no rule.

        Args:
            question: that is asked.
            repeat: does not change the answer.
        """
        self._too_long.update(hash(text) for _, text in too_long(question.data))
        return self._answer(question, repeat)

    def remarks(self) -> tuple[str, ...]:
        """How many of the texts that it was asked about it did not read to their end."""
        n = len(self._too_long)
        if not n:
            return ()
        was = "1 text was" if n == 1 else f"{n:,} texts were"
        return (
            f"{was} longer than {LONGEST:,} characters; the offline judge read no more of "
            f"{'it' if n == 1 else 'each'}.",
        )

    def _answer(self, question: Question[R_co], repeat: int) -> Verdict[R_co] | Failure:
        made = Provenance(LABEL, attempts=0)
        reply = answer_to(question)
        if reply is None:
            detail = f"the offline judge has no answer to {question.kind}; name an LLM with --judge"
            return Failure(question, Reason.UNSUPPORTED, detail, made, repeat)
        stands = as_far_as_read(question, question.check(reply))
        if isinstance(stands, Lost):
            return Failure(question, stands.reason, stands.detail, made, repeat)
        return Verdict(question, stands, made, repeat)


def offline_asker() -> Asker:
    """An asker of the embedded judge."""
    return Asker(OfflineJudge())
