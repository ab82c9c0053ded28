"""What the makers of a system wrote into the metadata and tags of its traces."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from ragassay import Sample
from ragassay.formats import Notes, load

Q, A = "Who wrote Emma?", "Jane Austen."
OWN = {"lang": "de", "beta": True, "level": 2}
REQUEST = {"conversation_id": "s1", "user_id": "u1"}


def one_sample(path: Path, *records: Any, notes: Notes | None = None, **options: Any) -> Sample:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    (sample,) = load(path, notes=Notes() if notes is None else notes, **options)
    return sample


def run(**more: Any) -> dict[str, Any]:
    given = {"inputs": {"question": Q}, "outputs": {"answer": A}}
    return {"id": "a", "run_type": "chain", "name": "rag", **given, **more}


def langfuse(**more: Any) -> dict[str, Any]:
    return {"id": "a", "name": "rag", "input": Q, "output": A, "observations": [], **more}


def span(name: str, parent: str | None = None, **attributes: Any) -> dict[str, Any]:
    return {
        "context.span_id": name,
        "context.trace_id": "t",
        "parent_id": parent,
        "name": name,
        **{f"attributes.{key.replace('__', '.')}": value for key, value in attributes.items()},
    }


ASKED = {"input__value": Q, "output__value": A}


def otlp(attributes: dict[str, Any]) -> dict[str, Any]:
    listed = [{"key": key, "value": {"stringValue": one}} for key, one in attributes.items()]
    given = {"traceId": "t", "spanId": "a", "name": "rag", "attributes": listed}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [given]}]}]}


def mlflow(**info: Any) -> dict[str, Any]:
    asked = {"mlflow.spanInputs": json.dumps({"question": Q}), "mlflow.spanOutputs": json.dumps(A)}
    spans = [{"span_id": "a", "name": "rag", "attributes": asked}]
    return {"info": {"trace_id": "t", **info}, "data": {"spans": spans}}


TEXTS = {"lang": "de", "beta": "yes", "level": "2"}

TOLD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "LangSmith": (
        run(extra={"metadata": {**OWN, "session_id": "s1", "user_id": "u1"}}, tags=["prod"]),
        {**OWN, **REQUEST, "tags": ["prod"]},
    ),
    "Langfuse": (
        langfuse(metadata=OWN, tags=["prod"], userId="u1", sessionId="s1", environment="live"),
        {**OWN, **REQUEST, "tags": ["prod"], "environment": "live"},
    ),
    "Langfuse observation": (
        {
            "id": "a",
            "traceId": "t",
            "type": "SPAN",
            "startTime": "2026-01-01T00:00:00Z",
            "input": Q,
            "output": A,
            "name": "rag",
            "metadata": OWN,
            "userId": "u1",
            "sessionId": "s1",
        },
        {**OWN, **REQUEST},
    ),
    "Phoenix": (
        span(
            name="rag",
            metadata=json.dumps({**OWN, "user.plan": "free"}),
            tag__tags=["prod"],
            session__id="s1",
            user__id="u1",
            **ASKED,
        ),
        {**OWN, **REQUEST, "user.plan": "free", "tags": ["prod"]},
    ),
    "OTLP": (
        otlp(
            {
                "input.value": Q,
                "output.value": A,
                "metadata": json.dumps(OWN),
                "session.id": "s1",
                "user.id": "u1",
            }
        ),
        {**OWN, **REQUEST},
    ),
    "Langfuse in OTLP": (
        otlp(
            {
                "langfuse.observation.input": Q,
                "langfuse.observation.output": A,
                **{f"langfuse.trace.metadata.{key}": one for key, one in TEXTS.items()},
                "langfuse.session.id": "s1",
                "langfuse.user.id": "u1",
            }
        ),
        {**TEXTS, **REQUEST},
    ),
    "OpenLLMetry": (
        otlp(
            {
                "traceloop.entity.input": Q,
                "traceloop.entity.output": A,
                "traceloop.association.properties.lang": "de",
            }
        ),
        {"lang": "de"},
    ),
    "MLflow": (
        mlflow(
            tags={**TEXTS, "mlflow.traceName": "rag"},
            trace_metadata={
                "mlflow.trace.session": "s1",
                "mlflow.trace.user": "u1",
                "mlflow.source.type": "LOCAL",
                "ours": "kept",
            },
        ),
        {**TEXTS, **REQUEST, "ours": "kept"},
    ),
}


@pytest.mark.parametrize("tool", TOLD)
def test_metadata_and_tags_of_traces_are_the_samples(tool: str, tmp_path: Path) -> None:
    """They were left out without a word."""
    record, expected = TOLD[tool]
    told = one_sample(tmp_path / "a.jsonl", record).metadata
    assert {key: value for key, value in told.items() if key not in ("name", "asked")} == expected


def test_what_tools_write_into_metadata_themselves_is_left_out(tmp_path: Path) -> None:
    written = {"ls_method": "traceable", "revision_id": "a1", "langgraph_step": 2, "lang": "de"}
    told = one_sample(tmp_path / "a.jsonl", run(extra={"metadata": written, "runtime": {"os": 1}}))
    assert told.metadata == {"name": "rag", "lang": "de"}
    inner = {"resourceAttributes": {"a": 1}, "scope": {"name": "x"}, "lang": "de"}
    told = one_sample(tmp_path / "b.jsonl", langfuse(metadata=inner, environment="default"))
    assert told.metadata == {"name": "rag", "lang": "de"}


def test_metadata_that_are_nested_or_take_a_known_name_are_told(tmp_path: Path) -> None:
    notes = Notes()
    written = {"user": {"plan": "free"}, "name": "mine", "lang": "de"}
    told = one_sample(tmp_path / "a.jsonl", langfuse(metadata=written), notes=notes)
    assert told.metadata == {"name": "rag", "lang": "de"}
    nested, taken = sorted(notes, reverse=True)
    assert nested.startswith("values of the unknown field 'user' that are large or nested: 1")
    assert taken.startswith("traces whose own metadata hold 'name'")


def test_metadata_of_retrieval_steps_are_not_the_requests(tmp_path: Path) -> None:
    """Of a web server's span nothing is told; the steps within it tell of the request."""
    server = span("POST /chat")
    found = span("search", "POST /chat", openinference__span__kind="RETRIEVER", metadata={"k": 4})
    chain = span("rag", "POST /chat", metadata={"lang": "de"}, **ASKED)
    model = span("llm", "rag", openinference__span__kind="LLM", session__id="s1", **ASKED)
    told = one_sample(tmp_path / "a.jsonl", server, found, chain, model).metadata
    assert told == {"name": "POST /chat", "lang": "de", "conversation_id": "s1"}


def test_tags_and_metadata_in_cells_of_csv_are_read(tmp_path: Path) -> None:
    row = {**run(), "extra": {"metadata": OWN}, "tags": ["prod"]}
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([[*row], [*row.values()]])
    (sample,) = load(path, notes=Notes())
    assert sample.metadata == {"name": "rag", **OWN, "tags": ["prod"]}


def test_results_of_experiments_keep_the_metadata_of_example_and_run(tmp_path: Path) -> None:
    result = {
        "run": run(extra={"metadata": {"lang": "de", "ls_x": 1}}, tags=["prod"]),
        "example": {"id": "e", "outputs": {"answer": A}, "metadata": {"topic": "novels"}},
    }
    sample = one_sample(tmp_path / "a.jsonl", result)
    assert sample.metadata == {"topic": "novels", "lang": "de", "tags": ["prod"]}
