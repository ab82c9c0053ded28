"""A judge for tests: it says what it is told to say, and remembers what it was asked."""

from collections.abc import Callable, Mapping
from typing import Any

from ragassay import Reason
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance
from ragassay.judges.question import Question, R_co

Reply = Mapping[str, Any] | Reason
Rule = Callable[[Question[Any]], Reply]


class Scripted(Judge):
    """Answers each kind of question by a reply, or fails by a reason.

    Args:
        said: the reply for each kind (others fail as unsupported), a rule, or the one reason for
            which everything fails.
    """

    def __init__(self, said: Mapping[str, Reply] | Rule | Reason) -> None:
        self.said = said
        self.questions: list[Question[Any]] = []

    @property
    def asked(self) -> list[str]:
        """Kinds of the questions so far."""
        return [question.kind for question in self.questions]

    @property
    def label(self) -> str:
        return "scripted"

    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        self.questions.append(question)
        if isinstance(self.said, Reason):
            said: Reply = self.said
        elif isinstance(self.said, Mapping):
            said = self.said.get(question.kind, Reason.UNSUPPORTED)
        else:
            said = self.said(question)
        made = Provenance(self.label)
        if isinstance(said, Reason):
            return Failure(question, said, f"told to fail: {said}", made, repeat)
        reply = type(question).reply.model_validate(said, strict=False)
        return JudgeAnswer(question, question.check(reply), made, repeat)
