"""A judge: whatever answers Questions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from ragassay.judges.judge_answer import Failure, JudgeAnswer
from ragassay.judges.question import Question
from ragassay.judges.reply import R_co
from ragassay.transport.providers import Price


class Judge(ABC):
    """Base of all judges. Opened and closed on the event loop that asks it.

    Attributes:
        price: of its model, for plans; ``None`` where no price is known.
        model: the model's name, by which a question may choose its shape; empty where there is
            none.
        prompts: of the user's own, by kind of question, in place of the package's.
        width: about how many questions it takes at once.
        remembered: whether a window asks each question once; not where answering takes no time.
    """

    price: Price | None = None
    model: str = ""
    prompts: Mapping[str, str] = {}
    width: int = 64
    remembered: bool = True

    def prompt_hash(self, question: Question[Any]) -> str:
        """The hash of the prompt by which it is asked a question."""
        return question.prompt_hash(self.model, self.prompts.get(question.kind, ""))

    @property
    @abstractmethod
    def label(self) -> str:
        """The name in outputs: ``openai:gpt-4o``, ``offline-lexical/1``; without secrets."""

    @property
    def signature(self) -> str:
        """What two answers must share to be comparable: label, parameters, dropped parameters."""
        return self.label

    def without(self, names: Iterable[str]) -> tuple[str, ...]:
        """Which of these sampling parameters its endpoint does not take."""
        return ()

    def leaves(self) -> tuple[Judge, ...]:
        """The judges that send requests, for plans: itself; a panel's members; none, where
        answering takes no request (rules, recorded answers)."""
        return (self,)

    def requests(self, question: Question[Any], repeat: int = 0) -> tuple[tuple[Judge, int], ...]:
        """The leaves that a question is sent to, whether or not they know the answer, each with the
        repeat that it is asked with; for plans."""
        return tuple((leaf, repeat) for leaf in self.leaves())

    @abstractmethod
    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        """The answer on a question. Errors of the judge are returned as a `Failure`, never raised.

        Args:
            question: what to answer.
            repeat: which of several independent askings of the same question this is.
        """

    async def open(self) -> None:
        """Called once, before the first question."""

    async def drain(self) -> None:
        """After an interrupt: sends nothing new and lets what is in flight end (it is paid)."""

    async def close(self) -> None:
        """Called once, after the last question."""

    def remarks(self) -> tuple[str, ...]:
        """After a run: sentences about what a reader of the scores should know."""
        return ()

    def known(self, question: Question[Any], repeat: int = 0) -> JudgeAnswer[Any] | Failure | None:
        """The answer or failure that takes no request (it is in a ledger, it costs nothing), for
        plans; ``None`` where the question would have to be sent. Arguments as of `answer`."""
        return None
