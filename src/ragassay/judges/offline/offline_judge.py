"""The embedded judge itself, and what it says about texts that it does not read to their end.

What is not in the part that was read may be in the rest. So an answer that something is absent
from such a text is dropped; an answer that something is there is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.offline.questions import POSITIVE_STARS, RULES, answer_to
from ragassay.judges.offline.words import LONGEST
from ragassay.judges.question import Question
from ragassay.judges.questions import ContextReport
from ragassay.judges.reply import Lost, R, R_co
from ragassay.judges.verdict import Failure, Provenance, Verdict
from ragassay.scores import Reason

VERSION = 3
"""Raised when any of its answers changes."""

LABEL = f"offline-lexical/{VERSION}"


class OfflineJudge(Judge):
    """Answers by rules about words.

    Of a text it reads the first `LONGEST` characters, and does not say what is absent from a longer
    one (`as_far_as_read`).
    """

    label = LABEL

    def __init__(self) -> None:
        self._too_long: set[int] = set()

    def leaves(self) -> tuple[Judge, ...]:
        """None: nothing is sent."""
        return ()

    def known(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure:
        """The answer itself, because it takes no request.

        Args:
            question: that is asked.
            repeat: which time it is asked, from 0.
        """
        provenance = Provenance(LABEL, attempts=0)
        reply = answer_to(question)
        if reply is None:
            detail = f"the offline judge has no answer to {question.kind}; name an LLM as the judge"
            return Failure(question, Reason.UNSUPPORTED, detail, provenance, repeat)
        answer = as_far_as_read(question, question.check(reply))
        if isinstance(answer, Lost):
            return Failure(question, answer.reason, answer.detail, provenance, repeat)
        return Verdict(question, answer, provenance, repeat)

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """The answer by the rules; a failure with `UNSUPPORTED` where there is no rule.

        Args:
            question: that is asked.
            repeat: does not change the answer.
        """
        self._too_long.update(hash(text) for _, text in too_long(question.data))
        return self.known(question, repeat)

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


def offline_asker() -> Asker:
    """An asker of the embedded judge."""
    return Asker(OfflineJudge())


def too_long(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a question's data that the offline judge does not read to their end.

    Args:
        data: of a question (`Question.data`).

    Yields:
        The field, for a text in a list with its number from 1 (``passages 2``); and the text.
    """
    for name, value in data.items():
        if isinstance(value, str):
            texts = [(name, value)]
        elif isinstance(value, list | tuple):
            texts = [(f"{name} {at}", one) for at, one in enumerate(value, 1)]
        else:
            continue
        yield from (one for one in texts if isinstance(one[1], str) and len(one[1]) > LONGEST)


def as_far_as_read(question: Question[R], answer: R) -> R | Lost:
    """The answer, without what the unread rest of a text could change.

    Args:
        question: what was asked.
        answer: by the rules, on the part of each text that they read.

    Returns:
        The answer, of a report without the fields that do not stand; `Lost` where nothing stands.
    """
    cut = [name for name, _ in too_long(question.data)]
    if not cut:
        return answer
    why = (
        f"{', '.join(cut).replace('_', ' ')}: longer than {LONGEST:,} characters, of which the "
        "offline judge reads no more, so that what it did not find there may still be there; "
        "split long texts, or name an LLM as the judge"
    )
    lost = Lost(reason=Reason.CONTEXT_TOO_LONG, detail=why)
    if isinstance(answer, ContextReport):
        lacking = _lacking(answer, {int(name.split()[1]) for name in cut if " " in name})
        without = dict.fromkeys([*lacking, *(f"{name}_explanation" for name in lacking)])
        reasons = {**answer.lost, **dict.fromkeys(lacking, lost)}
        return answer.model_copy(update={**without, "lost": reasons})
    rule = RULES[type(question)]
    of_field = any(name.split()[0] == rule.field for name in cut)
    return lost if of_field and rule.absent(question, answer) else answer


def _lacking(answer: ContextReport, cut: Set[int]) -> list[str]:
    """The fields that say that something is absent from the chunks with these numbers."""
    holds = {
        "relevance": (answer.relevance or 0) >= POSITIVE_STARS,
        "usefulness": (answer.usefulness or 0) >= POSITIVE_STARS,
        "utilization": not cut,
        "attribution": cut <= set(answer.attribution or ()),
    }
    return [name for name, good in holds.items() if not good and getattr(answer, name) is not None]
