"""Answers of the offline judge about texts that it does not read to their end.

What is not in the part that was read may be in the rest. So an answer that something is absent
from such a text is dropped; an answer that something is there is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from ragassay.judges.offline.language import LONGEST
from ragassay.judges.offline.rules import rules
from ragassay.judges.question import Question
from ragassay.judges.questions import ContextReport
from ragassay.judges.reply import Lost, R
from ragassay.scores import Reason

POSITIVE_STARS = 4
"""From how many stars of five a text holds what is asked for."""


def too_long(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a question's data that the offline judge does not read to their end.

    Args:
        data: of a question (`Question.data`).

    Yields:
        The field, for a text in a list with its number from 1 (``passages 2``); and the text.
    """
    for name, value in data.items():
        if isinstance(value, str):
            named = [(name, value)]
        elif isinstance(value, list | tuple):
            named = [(f"{name} {at}", one) for at, one in enumerate(value, 1)]
        else:
            continue
        yield from (one for one in named if isinstance(one[1], str) and len(one[1]) > LONGEST)


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
        "split long texts, or name an LLM with --judge"
    )
    lost = Lost(reason=Reason.CONTEXT_TOO_LONG, detail=why)
    if isinstance(answer, ContextReport):
        gone = _lacking(answer, {int(name.split()[1]) for name in cut if " " in name})
        without = dict.fromkeys([*gone, *(f"{name}_explanation" for name in gone)])
        told = {**answer.lost, **dict.fromkeys(gone, lost)}
        return answer.model_copy(update={**without, "lost": told})
    rule = rules()[type(question)]
    of_field = any(name.split()[0] == rule.field for name in cut)
    return lost if of_field and rule.absent(question, answer) else answer


def _lacking(answer: ContextReport, cut: Set[int]) -> list[str]:
    """The fields that say that something is absent from the chunks with these numbers."""
    stands = {
        "relevance": (answer.relevance or 0) >= POSITIVE_STARS,
        "usefulness": (answer.usefulness or 0) >= POSITIVE_STARS,
        "utilization": not cut,
        "attribution": cut <= set(answer.attribution or ()),
    }
    return [name for name, good in stands.items() if not good and getattr(answer, name) is not None]
