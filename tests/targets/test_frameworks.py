"""Systems made with the real packages LangChain and LlamaIndex, where these are installed."""

from typing import Any

import pytest

import ragassay
from ragassay.base.sample import Sample, Turn

QUERIES = [{"id": "q", "query": "When does it open?", "references": ["at nine"]}]
TALK = [
    Sample(id="q", query="And now?", history=(Turn("user", "First?"), Turn("agent", "Yes.")))
]  # fmt: skip


def answered(target: Any, queries: Any = QUERIES, **options: Any) -> Sample:
    (sample,) = ragassay.ask(queries, target, **options).samples
    assert sample.failure is None, sample.failure
    return sample


@pytest.fixture
def retriever() -> Any:
    """Two documents for any query."""
    pytest.importorskip("langchain_core", reason="needs the package langchain-core")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [
                Document("The pool opens at nine.", id="p1", metadata={"source": "pool.md"}),
                Document(f"about {query}"),
            ]

    return Retriever()


def test_a_chain_with_a_retriever_gives_answer_passages_and_scores(retriever: Any) -> None:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableParallel, RunnablePassthrough

    model = FakeListChatModel(responses=["It opens at nine."])
    asking = ChatPromptTemplate.from_template("{context} {question}") | model | StrOutputParser()
    found = RunnableParallel(context=retriever, question=RunnablePassthrough())
    sample = answered(found.assign(answer=asking))
    assert sample.answer_text == "It opens at nine."
    assert [(one.id, one.text, one.document) for one in sample.passages or ()] == [
        ("p1", "The pool opens at nine.", "pool.md"),
        (None, "about When does it open?", None),
    ]
    assert sample.metadata["asked"]["first_token"] <= sample.metadata["asked"]["latency"]
    assert answered(found | asking).answer_text == "It opens at nine."
    result = ragassay.evaluate(QUERIES, "contains_answer", system=found.assign(answer=asking))
    assert [row.value for row in result.scores] == [1.0]


def test_a_chain_is_given_the_history_and_a_model_tells_tokens_and_version() -> None:
    pytest.importorskip("langchain_core", reason="needs the package langchain-core")
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
    from langchain_core.runnables import RunnableLambda

    seen: list[Any] = []
    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("chat_history"), ("human", "{input}")]
    )
    said = AIMessage(
        "Yes.",
        usage_metadata={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
        response_metadata={"model_name": "m-1"},
    )
    noted = RunnableLambda(lambda given: seen.append(given) or given)
    asked = answered(prompt | noted | FakeMessagesListChatModel(responses=[said]), TALK)
    told = asked.metadata["asked"]
    assert (told["input_tokens"], told["output_tokens"], told["version"]) == (5, 2, "m-1")
    assert [(one.type, one.content) for one in seen[0].messages] == [
        ("human", "First?"), ("ai", "Yes."), ("human", "And now?"),
    ]  # fmt: skip


@pytest.fixture
def index() -> Any:
    """An index of two documents with models that need no network."""
    pytest.importorskip("llama_index.core", reason="needs the package llama-index-core")
    from llama_index.core import Document, MockEmbedding, VectorStoreIndex

    return VectorStoreIndex.from_documents(
        [
            Document(text="The pool opens at nine.", metadata={"file_name": "pool.md"}),
            Document(text="Towels are free."),
        ],
        embed_model=MockEmbedding(embed_dim=4),
    )


@pytest.mark.parametrize("streaming", [False, True])
def test_a_query_engine_gives_answer_and_passages(index: Any, streaming: bool) -> None:
    from llama_index.core.llms import MockLLM

    engine = index.as_query_engine(llm=MockLLM(), streaming=streaming)
    sample = answered(engine)
    assert "The pool opens at nine." in sample.answer_text  # this model repeats its prompt
    assert {(one.text, one.document) for one in sample.passages or ()} == {
        ("The pool opens at nine.", "pool.md"), ("Towels are free.", None),
    }  # fmt: skip
    assert all(one.id and one.score is not None for one in sample.passages or ())
    assert ("first_token" in sample.metadata["asked"]) == streaming
    result = ragassay.evaluate(QUERIES, "contains_answer", system=engine)
    assert [row.value for row in result.scores] == [1.0]


def test_a_model_of_llamaindex_answers_and_a_chat_engine_is_refused_with_what_to_do(index) -> None:
    from llama_index.core.llms import MockLLM

    assert answered(MockLLM()).answer_text == "When does it open?"
    with pytest.raises(ragassay.UsageError, match=r"chat engine is called from a function"):
        ragassay.ask(QUERIES, index.as_chat_engine(llm=MockLLM()))
