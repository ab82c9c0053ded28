"""An LLM judge before a test server, for tests."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from llm_server import LLMServer
from ragassay.judges.judge import Failure, JudgeAnswer
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.judges.question import Question
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.transport.endpoints.endpoint import Endpoint
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.secrets import Secret

KEY = "sk-test-0123456789abcdef"


def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first request has all the time it needs to find out, however slow the machine is."""
    monkeypatch.setattr("ragassay.transport.sending.HEAD_START_S", 60.0)


def grades(n: int, word: str = "passage") -> list[RelevanceGrade]:
    """Different questions."""
    return [RelevanceGrade(f"what is {at}?", f"{word} number {at}") for at in range(n)]


class Bench:
    """Judges of one server with one ledger; a context manager."""

    def __init__(self, server: LLMServer, folder: Path) -> None:
        self.server = server
        self.ledger = Ledger(folder / "ledger.sqlite")

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *exception: object) -> None:
        self.ledger.close()

    def judge(
        self, model: str = "model-a", *, endpoint: Endpoint | None = None, **options: Any
    ) -> LLMJudge:
        """A judge with short waits."""
        options.setdefault("backoff", 0.0002)
        at = endpoint or OpenAIChat(self.server.url, Secret(KEY, "TEST_KEY"))
        return LLMJudge(at, model, ledger=self.ledger, **options)


def ask(
    judge: LLMJudge, questions: Sequence[Question[Any]], repeat: int = 0
) -> list[JudgeAnswer[Any] | Failure]:
    """What the judge says, all asked side by side."""

    async def asked() -> list[JudgeAnswer[Any] | Failure]:
        await judge.open()
        try:
            return list(await asyncio.gather(*(judge.answer(one, repeat) for one in questions)))
        finally:
            await judge.close()

    return asyncio.run(asked())


def ask_one(
    judge: LLMJudge, question: Question[Any], repeat: int = 0
) -> JudgeAnswer[Any] | Failure:
    """What the judge says to one question."""
    return ask(judge, [question], repeat)[0]


def answered(asked: JudgeAnswer[Any] | Failure) -> JudgeAnswer[Any]:
    """The answer that it is."""
    assert isinstance(asked, JudgeAnswer), asked
    return asked


def failed(asked: JudgeAnswer[Any] | Failure) -> Failure:
    """The failure that it is."""
    assert isinstance(asked, Failure), asked
    return asked
