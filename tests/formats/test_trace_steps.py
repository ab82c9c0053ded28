"""Steps of traces: the same step is told by the same rule, whichever tool wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragassay import InputError, Sample
from ragassay.formats import Notes, load, place

Q, A = "Who founded it?", "Ada."
DOC = "Ada founded it in 1999."
BEGAN = 1_772_445_600


def one_sample(path: Path, *records: Any, notes: Notes | None = None) -> Sample:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    (sample,) = load(path, notes=Notes() if notes is None else notes)
    return sample


def mlflow_2(name: str, parent: str | None, kind: str, given: Any, gave: Any) -> dict[str, Any]:
    """A span as MLflow 2 writes it."""
    asked = {"mlflow.spanType": kind, "mlflow.spanInputs": given, "mlflow.spanOutputs": gave}
    return {
        "name": name,
        "context": {"span_id": f"0x{name}", "trace_id": "0x7d"},
        "parent_id": None if parent is None else f"0x{parent}",
        "start_time": BEGAN * 10**9 + (parent is not None),
        "end_time": BEGAN * 10**9 + 2_500_000_000,
        "status_code": "OK",
        "status_message": "",
        "attributes": {key: json.dumps(value) for key, value in asked.items()},
        "events": [],
    }


def of_mlflow(*spans: dict[str, Any], **info: Any) -> dict[str, Any]:
    told = {"request_id": "r1", "timestamp_ms": BEGAN * 1000, **info}
    return {"info": told, "data": {"spans": [*spans]}}


@pytest.mark.parametrize("kind", ["CHAIN", "UNKNOWN", "AGENT"])
@pytest.mark.parametrize("docs", [[{"page_content": DOC, "metadata": {"doc_uri": "d1"}}], []])
def test_the_answer_of_mlflow_2_is_no_passage(kind: str, docs: list[Any], tmp_path: Path) -> None:
    """All of its spans had one id, so that each counted as a part of the retrieval."""
    root = mlflow_2("a", None, kind, {"question": Q}, A)
    found = mlflow_2("b", "a", "RETRIEVER", {"query": Q}, docs)
    notes = Notes()
    one = one_sample(tmp_path / "a.jsonl", of_mlflow(root, found), notes=notes)
    assert (one.query, one.answer_text, one.timestamp) == (Q, A, BEGAN)
    assert [passage.text for passage in one.passages or ()] == [doc["page_content"] for doc in docs]
    assert one.metadata["asked"] == {"latency": 2.5}
    assert not list(notes)


def mlflow_3(status: dict[str, Any]) -> dict[str, Any]:
    asked = {"mlflow.spanInputs": json.dumps({"question": Q})}
    span = {"span_id": "a", "name": "rag", "status": status, "attributes": asked}
    return of_mlflow(span, state="ERROR")


def phoenix(**more: Any) -> dict[str, Any]:
    return {
        "name": "rag",
        "span_kind": "CHAIN",
        "context.span_id": "a",
        "context.trace_id": "t",
        "parent_id": None,
        "attributes.input.value": Q,
        **more,
    }


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """A trace of spans, each with its attributes as an object of texts."""

    def listed(attributes: dict[str, str]) -> list[dict[str, Any]]:
        return [{"key": key, "value": {"stringValue": one}} for key, one in attributes.items()]

    made = [{"traceId": "t", **one, "attributes": listed(one["attributes"])} for one in spans]
    return {"resourceSpans": [{"scopeSpans": [{"spans": made}]}]}


WHY = "KeyError: 'x'"
FAILED = {
    "MLflow 3": mlflow_3({"code": "STATUS_CODE_ERROR", "message": WHY}),
    "MLflow 2": of_mlflow(
        {**mlflow_2("a", None, "CHAIN", Q, None), "status_code": "ERROR", "status_message": WHY},
        status="ERROR",
    ),
    "Phoenix": phoenix(status_code="ERROR", status_message=WHY),
    "OTLP": otlp(
        {
            "spanId": "a",
            "status": {"code": "STATUS_CODE_ERROR", "message": WHY},
            "attributes": {"input.value": Q},
        }
    ),
}


@pytest.mark.parametrize("tool", FAILED)
def test_the_words_of_a_failure_are_kept(tool: str, tmp_path: Path) -> None:
    """Of MLflow's spans it was "error"."""
    assert one_sample(tmp_path / "a.jsonl", FAILED[tool]).failure == WHY


def langsmith(**more: Any) -> dict[str, Any]:
    return {"id": "a", "run_type": "chain", "inputs": {"question": Q}, **more}


@pytest.mark.parametrize("unit", [1, 1000, 10**6, 10**9])
@pytest.mark.parametrize("made", [phoenix, langsmith])
def test_times_of_frames_in_json_are_read_in_any_unit(made: Any, unit: int, tmp_path: Path) -> None:
    """pandas writes milliseconds (``to_json``), or what ``date_unit`` says."""
    row = made(start_time=BEGAN * unit, end_time=(BEGAN + 4) * unit)
    one = one_sample(tmp_path / "a.jsonl", row)
    assert (one.timestamp, one.metadata["asked"]) == (BEGAN, {"latency": 4.0})


def langfuse(*observations: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A trace as Langfuse's API gives it."""
    listed = [{"parentObservationId": None, "level": "DEFAULT", **one} for one in observations]
    told = {"id": "t", "name": "rag", "input": None, "output": None, "sessionId": None}
    return {**told, "observations": listed, **more}


ASKED = {"id": "a", "type": "SPAN", "name": "rag", "input": {"query": Q}, "output": {"answer": A}}
FOUND = {
    "id": "b",
    "type": "RETRIEVER",
    "name": "search",
    "parentObservationId": "a",
    "input": "founded",
    "output": [{"pageContent": DOC}],
}
REWRITTEN = {"id": "w", "type": "SPAN", "name": "rewrite", "input": Q, "output": "its founder"}
CALLED = {"id": "m", "type": "GENERATION", "name": "chat", "input": Q, "output": A}
SERVED = {"spanId": "h", "name": "POST /ask", "attributes": {"http.method": "POST"}}


def under_a_web_server() -> dict[str, Any]:
    asked = {"input.value": Q, "output.value": A}
    found = {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents.0.document.content": DOC,
    }
    return otlp(
        SERVED,
        {"spanId": "a", "parentSpanId": "h", "name": "rag", "attributes": asked},
        {"spanId": "b", "parentSpanId": "a", "name": "search", "attributes": found},
    )


@pytest.mark.parametrize(
    "trace",
    [
        langfuse(ASKED, FOUND),
        langfuse(ASKED, FOUND, input={"query": Q}),
        # A step beside the model's is none that contains the request.
        langfuse(REWRITTEN, CALLED, {**FOUND, "parentObservationId": None}),
        under_a_web_server(),
    ],
)
def test_a_trace_without_texts_has_those_of_the_step_around_all(
    trace: dict[str, Any], tmp_path: Path
) -> None:
    """Question and answer were lost, and you were not told."""
    one = one_sample(tmp_path / "a.jsonl", trace)
    assert (one.query, one.answer_text) == (Q, A)
    assert [passage.text for passage in one.passages or ()] == [DOC]


def test_of_two_steps_with_texts_neither_is_the_request(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(langfuse(ASKED, {**REWRITTEN, "output": None}, FOUND)) + "\n")
    (one,) = load(path, notes=Notes())
    assert (one.query, one.answer_text) == (Q, A)  # the retrieval stands in the first
    path.write_text(json.dumps(langfuse(ASKED, FOUND, CALLED)) + "\n")
    (one,) = load(path, notes=Notes())
    assert (one.query, one.answer_text) == (Q, A)  # those of the model's call


def test_what_a_step_found_is_no_answer(tmp_path: Path) -> None:
    found = {**ASKED, "name": "search_docs", "input": Q, "output": [DOC]}
    one = one_sample(tmp_path / "a.jsonl", langfuse(found))
    assert one.answer is None and [passage.text for passage in one.passages or ()] == [DOC]


def failed(step: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**step, "output": None, "level": "ERROR", "statusMessage": WHY, **more}


def failed_under_a_web_server() -> dict[str, Any]:
    status = {"code": 2, "message": WHY}
    inner = {"name": "rag", "status": status, "attributes": {"input.value": Q}}
    return otlp(SERVED, {"spanId": "a", "parentSpanId": "h", **inner})


@pytest.mark.parametrize(
    "trace",
    [
        langfuse(failed(ASKED), FOUND),
        langfuse(failed(ASKED), input=Q),
        # Of several steps without one around them the failed one tells why there is no answer.
        langfuse({**FOUND, "input": Q, "parentObservationId": None}, failed(CALLED)),
        failed_under_a_web_server(),
    ],
)
def test_a_trace_that_gave_nothing_failed_with_the_step_within(
    trace: dict[str, Any], tmp_path: Path
) -> None:
    one = one_sample(tmp_path / "a.jsonl", trace)
    assert (one.query, one.answer, one.failure) == (Q, None, WHY)


@pytest.mark.parametrize(
    "trace", [langfuse(failed(ASKED), output=A), langfuse(failed(FOUND), ASKED)]
)
def test_a_trace_that_gave_an_answer_did_not_fail(trace: dict[str, Any], tmp_path: Path) -> None:
    one = one_sample(tmp_path / "a.jsonl", trace)
    assert (one.query, one.answer_text, one.failure) == (Q, A, None)


EARLIER = [("user", "Who wrote Emma?"), ("agent", "Austen.")]
LANGCHAIN = [{"type": "human", "content": EARLIER[0][1]}, {"type": "ai", "content": EARLIER[1][1]}]
OPENAI = [
    {"role": "user", "content": EARLIER[0][1]},
    {"role": "assistant", "content": EARLIER[1][1]},
]
HISTORIES = [
    LANGCHAIN,
    [LANGCHAIN],
    OPENAI,
    [*OPENAI, {"role": "user", "content": Q}],
    [[text for _, text in EARLIER]],
    [["human", EARLIER[0][1]], ["ai", EARLIER[1][1]]],
]


def of_langsmith(given: dict[str, Any]) -> dict[str, Any]:
    return langsmith(inputs=given, outputs={"output": A})


def of_langfuse(given: dict[str, Any]) -> dict[str, Any]:
    return langfuse(input=given, output={"output": A})


def of_phoenix(given: dict[str, Any]) -> dict[str, Any]:
    more = {"attributes.input.value": json.dumps(given), "attributes.output.value": A}
    return phoenix(**more)


def of_evaluation_data(given: dict[str, Any]) -> dict[str, Any]:
    return {"inputs": given, "outputs": A, "expectations": {"expected_response": A}}


@pytest.mark.parametrize("turns", HISTORIES)
@pytest.mark.parametrize("name", ["chat_history", "history"])
@pytest.mark.parametrize("made", [of_langsmith, of_langfuse, of_phoenix, of_evaluation_data])
def test_turns_beside_the_question_are_the_history(
    made: Any, name: str, turns: list[Any], tmp_path: Path
) -> None:
    """They were left out, and suggested as passages."""
    path = tmp_path / "a.jsonl"
    one = one_sample(path, made({"input": Q, name: turns}))
    assert (one.query, one.answer_text) == (Q, A)
    assert [(turn.speaker, turn.text) for turn in one.history] == EARLIER
    assert "passages" not in place(path).suggested


def test_a_history_that_is_named_by_hand_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    given = {"input": Q, "chat_history": OPENAI, "memory": LANGCHAIN[:1]}
    path.write_text(json.dumps(of_langsmith(given)) + "\n")
    (one,) = load(path, columns={"history": "inputs.memory"}, notes=Notes())
    assert [(turn.speaker, turn.text) for turn in one.history] == EARLIER[:1]


def test_pairs_of_texts_are_turns_in_records_of_ones_own(tmp_path: Path) -> None:
    record = {"query": Q, "answer": A, "chat_history": [[text for _, text in EARLIER]]}
    one = one_sample(tmp_path / "a.jsonl", record)
    assert [(turn.speaker, turn.text) for turn in one.history] == EARLIER


def test_an_output_of_null_is_no_answer_of_mlflow(tmp_path: Path) -> None:
    """Its attributes are JSON; the answer was the text "null"."""
    notes = Notes()
    one = one_sample(
        tmp_path / "a.jsonl", of_mlflow(mlflow_2("a", None, "CHAIN", Q, None)), notes=notes
    )
    assert (one.query, one.answer, list(notes)) == (Q, None, [])


@pytest.mark.parametrize("kind", ["chat", "completion"])
def test_a_model_call_of_openllmetry_is_one_under_a_web_server_too(
    kind: str, tmp_path: Path
) -> None:
    """Its kind stands in ``llm.request.type``; ``gen_ai.operation.name`` is newer."""
    said = {
        "llm.request.type": kind,
        "gen_ai.system": "OpenAI",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": Q,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": A,
    }
    found = {"traceloop.span.kind": "task", "traceloop.entity.output": json.dumps([DOC])}
    retrieved = {"spanId": "b", "parentSpanId": "h", "name": "retriever.task", "attributes": found}
    called = {"spanId": "m", "parentSpanId": "h", "name": "openai.chat", "attributes": said}
    one = one_sample(tmp_path / "a.jsonl", otlp(SERVED, retrieved, called))
    assert (one.query, one.answer_text) == (Q, A)
    assert [passage.text for passage in one.passages or ()] == [DOC]


def test_labels_among_the_scores_of_langfuse_are_kept(tmp_path: Path) -> None:
    scores = [
        {"name": "tone", "value": None, "dataType": "CATEGORICAL", "stringValue": "friendly"},
        {"name": "short", "value": 1, "dataType": "BOOLEAN", "stringValue": "True"},
        {"name": "faithfulness", "value": 0, "dataType": "NUMERIC", "stringValue": None},
    ]
    one = one_sample(tmp_path / "a.jsonl", langfuse(ASKED, scores=scores))
    found = {"score.tone": "friendly", "score.short": 1, "score.faithfulness": 0}
    assert one.metadata == {"name": "rag", **found}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("given", [{}, {"input": Q, "output": A}])
def test_the_json_of_langfuses_pages_is_a_trace(
    indent: int | None, given: dict[str, Any], tmp_path: Path
) -> None:
    """It was refused with the advice to keep the observations alone."""
    step = {**CALLED, "usageDetails": {"input": 100, "output": 9}, "parentObservationId": "a"}
    trace = langfuse(ASKED, FOUND, step, **given, userId="u1", tags=["prod"], latency=2.1)
    trace["scores"] = [{"name": "faithfulness", "value": 1}]
    listed = trace.pop("observations")
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"trace": trace, "observations": listed}, indent=indent))
    notes = Notes()
    (one,) = load(path, notes=notes)
    assert (one.id, one.query, one.answer_text) == ("t", Q, A)
    assert [passage.text for passage in one.passages or ()] == [DOC]
    told = {"name": "rag", "user_id": "u1", "tags": ["prod"], "score.faithfulness": 1}
    asked = {"latency": 2.1, "input_tokens": 100.0, "output_tokens": 9.0}
    assert (one.metadata, list(notes)) == ({**told, "asked": asked}, [])


@pytest.mark.parametrize(
    ("trace", "name"),
    [
        (phoenix(start_time="then"), "start_time"),
        (langsmith(start_time="then"), "start_time"),
        (langfuse(ASKED, timestamp="then"), "timestamp"),
        ({**ASKED, "traceId": "t", "startTime": "then"}, "startTime"),
        (of_mlflow(mlflow_2("a", None, "CHAIN", Q, A), timestamp_ms="then"), "timestamp_ms"),
    ],
)
def test_a_wrong_time_is_told_by_the_name_that_the_file_has(
    trace: dict[str, Any], name: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=f"field '{name}': this is no point in time"):
        one_sample(tmp_path / "a.jsonl", trace)
