"""Steps of traces: the same step is told by the same rule, whichever tool wrote it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from json_lines import jsonl
from ragassay import InputError, Sample
from ragassay.formats import Notes, load, place
from ragassay.formats.records.step_contents import answer, asked, documents, measured
from ragassay.formats.trace_spans import MODEL, Span, _served

Q, A = "Who founded it?", "Ada."
MODEL_SAID = {"role": "assistant", "content": A}
BEGAN = 1_772_445_600


def one_sample(path: Path, *records: Any, notes: Notes | None = None) -> Sample:
    (sample,) = load(jsonl(path, *records), notes=Notes() if notes is None else notes)
    return sample


def mlflow_2(name: str, parent: str | None, kind: str, given: Any, gave: Any) -> dict[str, Any]:
    """A span as MLflow 2 writes it."""
    asked = {"mlflow.spanType": kind, "mlflow.spanInputs": given, "mlflow.spanOutputs": gave}
    return {
        "name": name, "context": {"span_id": f"0x{name}", "trace_id": "0x7d"},
        "parent_id": None if parent is None else f"0x{parent}",
        "start_time": BEGAN * 10**9 + (parent is not None),
        "end_time": BEGAN * 10**9 + 2_500_000_000, "status_code": "OK", "status_message": "",
        "attributes": {key: json.dumps(value) for key, value in asked.items()}, "events": [],
    }  # fmt: skip


def of_mlflow(*spans: dict[str, Any], **info: Any) -> dict[str, Any]:
    told = {"request_id": "r1", "timestamp_ms": BEGAN * 1000, **info}
    return {"info": told, "data": {"spans": [*spans]}}


def phoenix(**more: Any) -> dict[str, Any]:
    return {
        "name": "rag", "span_kind": "CHAIN", "context.span_id": "a", "context.trace_id": "t",
        "parent_id": None, "attributes.input.value": Q, **more,
    }  # fmt: skip


def langsmith(**more: Any) -> dict[str, Any]:
    return {"id": "a", "run_type": "chain", "inputs": {"question": Q}, **more}


def langfuse(*observations: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A trace as Langfuse's API gives it."""
    listed = [{"parentObservationId": None, "level": "DEFAULT", **one} for one in observations]
    told = {"id": "t", "name": "rag", "input": None, "output": None, "sessionId": None}
    return {**told, "observations": listed, **more}


ASKED = {"id": "a", "type": "SPAN", "name": "rag", "input": {"query": Q}, "output": {"answer": A}}


EARLIER = [("user", "Who wrote Emma?"), ("agent", "Austen.")]
LANGCHAIN = [{"type": "human", "content": EARLIER[0][1]}, {"type": "ai", "content": EARLIER[1][1]}]
SAID = [text for _, text in EARLIER]
OPENAI = [{"role": "user", "content": SAID[0]}, {"role": "assistant", "content": SAID[1]}]


def of_langsmith(given: dict[str, Any]) -> dict[str, Any]:
    return langsmith(inputs=given, outputs={"output": A})


def of_langfuse(given: dict[str, Any]) -> dict[str, Any]:
    return langfuse(input=given, output={"output": A})


def of_phoenix(given: dict[str, Any]) -> dict[str, Any]:
    more = {"attributes.input.value": json.dumps(given), "attributes.output.value": A}
    return phoenix(**more)


def of_evaluation_data(given: dict[str, Any]) -> dict[str, Any]:
    return {"inputs": given, "outputs": A, "expectations": {"expected_response": A}}


@pytest.mark.parametrize("turns", [
    LANGCHAIN, [LANGCHAIN], OPENAI, [*OPENAI, {"role": "user", "content": Q}],
    [SAID], [["human", EARLIER[0][1]], ["ai", EARLIER[1][1]]],
])  # fmt: skip
@pytest.mark.parametrize("name", ["chat_history", "history"])
@pytest.mark.parametrize("made", [of_langsmith, of_langfuse, of_phoenix, of_evaluation_data])
def test_turns_beside_the_question_are_the_history(made, name, turns: list[Any], tmp_path) -> None:
    """They were left out, and suggested as passages."""
    path = tmp_path / "a.jsonl"
    one = one_sample(path, made({"input": Q, name: turns}))
    assert (one.query, one.answer_text) == (Q, A)
    assert [(turn.speaker, turn.text) for turn in one.history] == EARLIER
    assert "passages" not in place(path).suggested


@pytest.mark.parametrize(("trace", "name"), [
    (phoenix(start_time="then"), "start_time"), (langsmith(start_time="then"), "start_time"),
    (langfuse(ASKED, timestamp="then"), "timestamp"),
    ({**ASKED, "traceId": "t", "startTime": "then"}, "startTime"),
    (of_mlflow(mlflow_2("a", None, "CHAIN", Q, A), timestamp_ms="then"), "timestamp_ms"),
])  # fmt: skip
def test_a_wrong_time_is_told_by_the_name_that_the_file_has(trace, name, tmp_path) -> None:
    with pytest.raises(InputError, match=f"field '{name}': this is not a time"):
        one_sample(tmp_path / "a.jsonl", trace)


def test_times_that_tools_write_without_a_zone_are_utc(tmp_path: Path) -> None:
    trace = langsmith(start_time="2026-01-01T00:00:00")
    made = one_sample(tmp_path / "a.jsonl", trace, notes=(notes := Notes()))
    assert made.timestamp == 1767225600 and "zone" not in " ".join(notes)


def test_metadata_that_are_nested_are_told_and_known_names_stay(tmp_path: Path) -> None:
    notes = Notes()
    written = {"user": {"plan": "free"}, "name": "mine", "lang": "de"}
    trace = langfuse(input=Q, output=A, metadata=written, release="v2")
    told = one_sample(tmp_path / "a.jsonl", trace, notes=notes)
    assert told.metadata == {"name": "rag", "lang": "de", "release": "v2"}
    (nested,) = notes
    assert nested.startswith("values of the unknown field 'user' that are large or nested: 1")


BEST = [("b", 0.5), ("c", 1)]


@pytest.mark.parametrize(("output", "found"), [
    (None, []), ("", []), ("One.", ["One."]), ('["a", "b"]', ["a", "b"]), ([3], ["3"]),
    (["a", ["b", 0.5]], ["a", "b"]), ({"output": {"documents": ["x"]}}, ["x"]),
    ([[{"text": "b"}, 0.5], [{"text": "c"}, 1]], [{"text": t, "score": s} for t, s in BEST]),
    (["a.txt", {"text": "b"}], ["a.txt", {"text": "b"}]),
    ([{"lc": 1, "kwargs": {"page_content": "c"}}], [{"page_content": "c"}]),
    ([{"id_": "n", "text": "d"}], [{"id": "n", "text": "d"}]),
    ([{"node": {"text": "d"}, "score": 0, "id": "n"}], [{"text": "d", "score": 0, "id": "n"}]),
    ([{"snippet": "e", "type": "x"}, {"pageContent": "f"}], [{"text": "e"}, {"text": "f"}]),
])  # fmt: skip
def test_documents_are_found_in_the_outputs_of_any_tool(output: Any, found: list[Any]) -> None:
    assert documents(output) == found


CALLS = {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {"q": "x"}}}]}


@pytest.mark.parametrize(("output", "said"), [
    *((each, A) for each in (
        A, [MODEL_SAID], {"choices": [{"message": MODEL_SAID}]}, {"generations": [[{"text": A}]]},
        {"messages": [[MODEL_SAID]]}, {"messages": [MODEL_SAID, CALLS]}, {"args": [A]}, {"x": A},
        {"lc": 1, "id": ["AIMessage"], "kwargs": {"content": A}}, {"output": {"output": A}},
        {"parts": [{"text": A}]}, {"role": "model", "parts": [{"text": A}]},
    )),
    (3, "3"), ({"answer": 2.5}, "2.5"), (True, None), (None, None), ({"x": A, "y": "b"}, None),
    (CALLS, None), ({"args": [A, "x"]}, None), ([], None), ({"messages": []}, None),
    ([{"role": "user", "content": Q}] * 2, None),
])  # fmt: skip
def test_an_answer_is_found_in_the_outputs_of_any_tool(output: Any, said: str | None) -> None:
    text = json.dumps(output) if isinstance(output, dict | list) else output
    assert answer(output) == answer(text) == said


@pytest.mark.parametrize(("given", "query"), [
    ({"args": [Q]}, Q), ({"args": [Q, {"k": 3}]}, Q), ({"args": [{"question": Q}]}, Q),
    ({"args": [Q, "x"]}, None), ({"question": Q, "chat_history": [["human", "Hi"]]}, Q),
    ({"parts": [{"text": Q}]}, Q), ({"x": Q, "y": "b"}, None),
])  # fmt: skip
def test_a_question_is_found_in_the_inputs_of_any_tool(given: Any, query: str | None) -> None:
    assert asked(given).get("query") == query


def test_of_two_latencies_that_in_seconds_counts() -> None:
    assert measured(latency="2.50s", latency_ms=9000) == {"latency": 2.5}
    assert measured(latency=-1, cost=0) == {"cost": 0}
    assert measured(start=1, end=9, latency="2 s") == {"latency": 2}  # nor that between times
    told = {"input_tokens": 1, "total_tokens": 3}
    assert measured(**told) == told and "total_tokens" not in measured(**told, output_tokens=2)


def test_a_sum_of_tokens_needs_those_of_each_call() -> None:
    root, *calls = (Span(id=f"{n}", path=None, line=1, kind=MODEL) for n in range(3))
    calls[0] = replace(calls[0], served={"input_tokens": 5})
    assert _served(root, calls) == {}
    assert _served(root, [calls[0]] * 2) == {"input_tokens": 10}
