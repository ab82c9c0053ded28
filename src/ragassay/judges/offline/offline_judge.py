"""The embedded judge itself. It reads no text of more than `LONGEST` characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragassay.base.score import Reason
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance
from ragassay.judges.offline import LONGEST
from ragassay.judges.question import Question, R_co

if TYPE_CHECKING:
    from ragassay.judges.offline.questions import Cosine

VERSION = 12  # raised when any of its answers changes

LABEL = f"offline-lexical/{VERSION}"


class OfflineJudge(Judge):
    """Answers by signals from words; ``unsupported`` to what these cannot tell. ``cosine`` is of a
    sentence encoder, and joins the words where relevance is asked for; ``encoder`` is its name, for
    the label."""

    label = LABEL

    def __init__(self, cosine: Cosine | None = None, encoder: str = "") -> None:
        self.label = f"{LABEL}+{encoder}" if cosine else LABEL
        self._cosine = cosine
        self._too_long: set[int] = set()

    def leaves(self) -> tuple[Judge, ...]:
        """None: nothing is sent."""
        return ()

    def known(self, question: Question[Any], repeat: int = 0) -> JudgeAnswer[Any] | Failure:
        """The answer itself, because it takes no request; ``repeat`` does not change it."""
        from ragassay.judges.offline.questions import answer_to, unknown_language

        provenance = Provenance(self.label, attempts=0)
        if cut := [name for name, _ in too_long(question.data)]:
            detail = (
                f"{', '.join(cut).replace('_', ' ')}: longer than {LONGEST:,} characters, which "
                "the offline judge does not read; split long texts, or name an LLM as the judge"
            )
            return Failure(question, Reason.CONTEXT_TOO_LONG, detail, provenance, repeat)
        where = unknown_language(question)
        if where or (reply := answer_to(question, self._cosine)) is None:
            here = f" in {where}" if where else ""
            detail = f"{question.kind}{here} needs an LLM judge"
            return Failure(question, Reason.UNSUPPORTED, detail, provenance, repeat)
        return JudgeAnswer(question, question.check(reply), provenance, repeat)

    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        """The same as `known`; remembers what was too long."""
        self._too_long.update(hash(text) for _, text in too_long(question.data))
        return self.known(question, repeat)

    def remarks(self) -> tuple[str, ...]:
        """How many of the texts that it was asked about were too long."""
        n = len(self._too_long)
        was = "1 text is" if n == 1 else f"{n:,} texts are"
        limit = f"longer than {LONGEST:,} characters"
        return (f"{was} {limit}; the offline judge does not read such texts.",) if n else ()


def offline_asker() -> Asker:
    """An asker of the embedded judge."""
    return Asker(OfflineJudge())


def too_long(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a question's data (`Question.data`) that the offline judge does not read.

    Yields:
        The field, for a text in a list with its number from 1 (``passages 2``); and the text.
    """
    for name, value in data.items():
        several = isinstance(value, list | tuple)
        for at, text in enumerate(value if several else (value,), 1):
            if isinstance(text, str) and len(text) > LONGEST:
                yield f"{name} {at}" if several else name, text
