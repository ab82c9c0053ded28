"""Chat models of LangChain, LlamaIndex and datapizza as judges, where these are installed."""

import json
from typing import Any

import pytest

import ragassay
from llm_server import LLMServer

pytestmark = pytest.mark.usefixtures("here")

SAID = json.dumps({"reasoning": "they say the same", "is_matching": True})
DATA = [
    {"id": f"{n}", "query": f"Who wrote {n}?", "answer": f"Ann {n}", "references": [f"Ann {n}"]}
    for n in range(3)
]


def judged(judge: Any, **options: Any) -> tuple[list[Any], Any]:
    result = ragassay.evaluate(DATA, "answer_match", judge=judge, **options)
    return [row.value for row in result.scores], result.summary.judging


def test_models_of_langchain_judge() -> None:
    pytest.importorskip("langchain_core", reason="needs the package langchain-core")
    from langchain_core.language_models.fake import FakeListLLM
    from langchain_core.language_models.fake_chat_models import (
        FakeListChatModel,
        FakeMessagesListChatModel,
    )
    from langchain_core.messages import AIMessage

    counts: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    message = AIMessage([{"type": "text", "text": SAID}], usage_metadata=counts)
    for judge, tokens in (
        (FakeListChatModel(responses=[SAID]), (0, 0)),
        (FakeListLLM(responses=[SAID]), (0, 0)),
        (FakeMessagesListChatModel(responses=[message]), (15, 6)),
    ):
        values, spent = judged(judge)
        assert values == [True] * 3
        assert (spent.calls, spent.input_tokens, spent.output_tokens) == (3, *tokens)


def test_a_model_of_llamaindex_judges_and_is_told_apart_by_its_fields() -> None:
    pytest.importorskip("llama_index.core", reason="needs the package llama-index-core")
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.llms.callbacks import llm_completion_callback

    class Own(CustomLLM):
        model: str = "own-1"
        rules: str = ""

        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name=self.model)

        @llm_completion_callback()
        def complete(self, prompt: str, formatted: bool = False, **more: Any) -> Any:
            counts = {"prompt_tokens": 9, "completion_tokens": 4}
            return CompletionResponse(text=SAID, additional_kwargs=counts)

        @llm_completion_callback()
        def stream_complete(self, prompt: str, formatted: bool = False, **more: Any) -> Any:
            raise AssertionError("no stream is asked for")

    values, spent = judged(Own())
    assert values == [True] * 3 and spent.judge == "python:Own:own-1"
    assert (spent.calls, spent.input_tokens, spent.output_tokens) == (3, 27, 12)
    assert judged(Own())[1].cached == 3
    assert judged(Own(rules="be mild"))[1].cached == 0


def test_a_client_of_datapizza_judges_and_is_told_apart_by_its_settings() -> None:
    package = pytest.importorskip(
        "datapizza.clients.openai_like", reason="needs datapizza-ai-clients-openai-like"
    )
    with LLMServer() as server:

        def made(**more: Any) -> Any:
            at = {"base_url": server.url, "api_key": "key-of-a-test"}
            return package.OpenAILikeClient(model="tiny", **at, **more)

        values, spent = judged(made())
        assert None not in values and spent.judge == "python:OpenAILikeClient:tiny"
        assert spent.calls == 3 and spent.input_tokens > 0 < spent.output_tokens
        assert {body["messages"][-1]["role"] for body in server.bodies} == {"user"}
        assert judged(made())[1].cached == 3
        assert judged(made(system_prompt="Be mild."))[1].cached == 0
