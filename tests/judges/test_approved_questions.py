"""What is asked is as it was approved: a question that is asked otherwise is paid for again."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from approved import check, number
from question_examples import EXAMPLES, MODELS, name_of
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm import messages
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.judges.llm.messages import build, tokens_of_question, tokens_of_schema
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.secrets import NO_KEY

APPROVED = Path(__file__).parent / "approved" / "asked_approved.txt"


def asked() -> Iterator[str]:
    """Of each question its key, version and parameters, the ledger's key of a request, and by model
    its template and prompt's hash, a hash of the messages and the estimate of their tokens."""
    endpoint = OpenAIChat("http://localhost:1/v1", NO_KEY)
    judge = LLMJudge(endpoint, MODELS[0], ledger=Ledger(":memory:"))
    for question in EXAMPLES:
        schema = tokens_of_schema(type(question))
        yield f"{name_of(question)}: {question.key} version {question.version}"
        yield f"  {build(judge, question, 1, frozenset()).key[:16]}"
        yield f"  {number(question.sampling())} {question.output_tokens} {number(schema)}"
        for model in MODELS:
            sent = json.dumps([question.messages(model), question.bounded_schema()])
            digest = hashlib.sha256(sent.encode()).hexdigest()[:12]
            tokens = number(tokens_of_question(question, model))
            told = f"{question.template(model)} {question.prompt_hash(model)}"
            yield f"  {model}: {told} {digest} {tokens}"


def test_questions_are_asked_as_it_was_approved(request, monkeypatch) -> None:
    # The estimate rests on the first question of a shape: that of another test, otherwise.
    monkeypatch.setattr(messages, "_around", {})
    check(APPROVED, asked(), request.config.getoption("--approve"))
