"""A golden item as the records of other tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragassay.golden.exchange.export_files import Record
from ragassay.golden.golden_item import GoldenItem, Utterance


def native(item: GoldenItem) -> Iterable[Record]:
    """Every field."""
    yield item.to_record()


def ragas(item: GoldenItem) -> Iterable[Record]:
    """A sample of Ragas."""
    yield _present(
        id=item.id, user_input=item.query, reference=_first(item), reference_contexts=_texts(item)
    )


def deepeval(item: GoldenItem) -> Iterable[Record]:
    """A golden of DeepEval."""
    # Without a retrieval_context beside it, a context could be what a system retrieved.
    unknown = {"actual_output": None, "retrieval_context": None}
    # The expected output may be null: by that column its reader knows that the name is the id.
    expected = {"expected_output": _first(item), **_present(context=_texts(item))}
    yield {"name": item.id, "input": item.query, **unknown, **expected}


def mtrag(item: GoldenItem) -> Iterable[Record]:
    """A task of MT-RAG."""
    turns = [*item.history, Utterance(speaker="user", text=item.query)]
    label = item.answerability
    yield _present(
        task_id=item.id,
        input=[one.model_dump() for one in turns],
        targets=[{"speaker": "agent", "text": one} for one in item.references],
        Answerability=None if label is None else [label.upper()],
    )


def ultrarag(item: GoldenItem) -> Iterable[Record]:
    """A record of UltraRAG."""
    yield {"id": item.id, "question": item.query, "golden_answers": item.references}


def ragchecker(item: GoldenItem) -> Iterable[Record]:
    """An input of RAGChecker; none without a reference."""
    if item.references:
        yield {"query_id": item.id, "query": item.query, "gt_answer": item.references[0]}


def open_rag_eval(item: GoldenItem) -> Iterable[Record]:
    """A row of Open RAG Eval."""
    yield {"query_id": item.id, "query": item.query, "expected_answer": _first(item) or ""}


def langsmith(item: GoldenItem) -> Iterable[Record]:
    """An example of LangSmith."""
    yield {
        "id": item.id,
        "inputs": {"question": item.query},
        "outputs": _present(answer=_first(item)),
        "metadata": item.metadata,
    }


def langfuse(item: GoldenItem) -> Iterable[Record]:
    """An item of a data set of Langfuse."""
    asked = {"id": item.id, "input": item.query}
    yield {**asked, "expectedOutput": _first(item), "metadata": item.metadata}


def mlflow(item: GoldenItem) -> Iterable[Record]:
    """A record of MLflow's evaluation data."""
    yield {
        "inputs": {"query": item.query},
        "expectations": _present(expected_response=_first(item)),
        "tags": {"id": item.id},
    }


def pairs(item: GoldenItem) -> Iterable[Record]:
    """A record for each right and wrong answer of a query."""
    for right in item.references:
        for wrong in item.negative_references:
            answers = {"chosen": right, "rejected": wrong.text}
            yield _present(id=item.id, query=item.query, **answers, kind=wrong.kind)


def _present(**fields: Any) -> Record:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def _first(item: GoldenItem) -> str | None:
    return next(iter(item.references), None)


def _texts(item: GoldenItem) -> list[str] | None:
    return [span.text for span in item.gold] if item.gold else None
