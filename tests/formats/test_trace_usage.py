"""Times, tokens and costs of traces, as the suite `serving` reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay.formats import load

Q, A = "Who wrote Emma?", "Jane Austen."
NS = 1_700_000_000_000_000_000


def attribute(name: str, value: Any) -> dict[str, Any]:
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": name, "value": {kind: value}}


def otlp() -> Any:
    def step(name: str, above: str, seconds: float, **attributes: Any) -> dict[str, Any]:
        named = {key.replace("__", "."): value for key, value in attributes.items()}
        return {
            "traceId": "t", "spanId": name, "parentSpanId": above, "name": name,
            "startTimeUnixNano": str(NS), "endTimeUnixNano": str(NS + int(seconds * 1e9)),
            "attributes": [attribute(key, value) for key, value in named.items()],
        }  # fmt: skip

    model = {"openinference__span__kind": "LLM", "llm__cost__total": 0.125}
    listed = [
        step("root", "", 2.5, input__value=Q, output__value=A),
        step("one", "root", 1, gen_ai__usage__input_tokens=20.0,
             gen_ai__usage__output_tokens=4.0, **model),
        step("two", "root", 1, llm__token_count__prompt=30.0, llm__token_count__completion=5.0,
             **model),
    ]  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": listed}]}]}


def phoenix() -> Any:
    return {
        "context": {"trace_id": "t", "span_id": "s"}, "span_kind": "LLM", "name": "answer",
        "start_time": "2026-01-01T00:00:00+00:00", "end_time": "2026-01-01T00:00:02.5+00:00",
        "attributes": {
            "input": {"value": Q}, "output": {"value": A}, "llm.cost.total": 0.25,
            "llm": {"token_count": {"prompt": 50, "completion": 9}},
        },
    }  # fmt: skip


def langfuse() -> Any:
    step = {
        "type": "GENERATION", "name": "answer", "startTime": "2026-01-01T00:00:00Z",
        "endTime": "2026-01-01T00:00:01Z", "completionStartTime": "2026-01-01T00:00:00.5Z",
    }  # fmt: skip
    return {
        "id": "t", "projectId": "p", "input": Q, "output": A, "latency": 2.5, "totalCost": 0.25,
        "observations": [
            {**step, "id": "one", "usageDetails": {"input": 20, "output": 4, "total": 24}},
            {**step, "id": "two", "usage": {"input": 30, "output": 5, "unit": "TOKENS"}},
        ],
    }  # fmt: skip


def mlflow() -> Any:
    model = {"start_time_ns": NS, "end_time_ns": NS + 10**9, "parent_id": "root"}
    used = {"input_tokens": 25, "output_tokens": 4.5, "total_tokens": 29.5}
    spent = {"mlflow.spanType": "LLM", "mlflow.chat.tokenUsage": json.dumps(used)}
    spent["mlflow.llm.cost"] = json.dumps({"total_cost": 0.125})
    root = {"mlflow.spanInputs": json.dumps({"query": Q}), "mlflow.spanOutputs": json.dumps(A)}
    return {
        "info": {"trace_id": "t"},
        "data": {
            "spans": [
                {"span_id": "root", "name": "rag", "start_time_ns": NS,
                 "end_time_ns": NS + 2_500_000_000, "attributes": root},
                {"span_id": "one", "name": "a", "attributes": spent, **model},
                {"span_id": "two", "name": "b", "attributes": spent, **model},
            ]
        },
    }  # fmt: skip


@pytest.mark.parametrize("made", [otlp, phoenix, langfuse, mlflow])
def test_what_a_request_took_is_read(made: Any, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(made()), encoding="utf-8")
    (sample,) = load(path)
    assert (sample.query, sample.answer_text) == (Q, A)
    assert sample.metadata["asked"] == {
        "latency": 2.5, "input_tokens": 50.0, "output_tokens": 9.0, "cost": 0.25,
    }  # fmt: skip
    found = ragassay.evaluate(path, "serving").summary.metrics
    assert found["latency"].mean == 2.5 and found["cost"].mean == 0.25


def test_what_is_counted_in_other_units_is_no_tokens(tmp_path: Path) -> None:
    trace = langfuse()
    for one in trace["observations"]:
        one.pop("usageDetails", None)
        one["usage"] = {"input": 20, "output": 4, "unit": "CHARACTERS"}
        one["costDetails"] = {"total": 0.125, "unit": "USD"}
    del trace["totalCost"]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(trace), encoding="utf-8")
    (sample,) = load(path)
    assert sample.metadata["asked"] == {"latency": 2.5, "cost": 0.25}


def promptfoo(**response: Any) -> dict[str, Any]:
    told = {"output": A, "tokenUsage": {"prompt": 50, "completion": 9, "total": 59}, "cost": 0.25}
    return {
        "promptIdx": 0, "testIdx": 0, "vars": {"query": Q}, "provider": {"id": "m"},
        "latencyMs": 2500, "cost": 0.25, "response": {**told, **response},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("response", "asked"),
    [
        ({}, {"latency": 2.5, "input_tokens": 50.0, "output_tokens": 9.0, "cost": 0.25}),
        ({"cached": True}, None),
        ({"tokenUsage": {"prompt": 0, "completion": 0}}, {"latency": 2.5, "cost": 0.25}),
        ({"tokenUsage": None}, {"latency": 2.5, "cost": 0.25}),
    ],
)
def test_what_a_reply_took_is_read_of_promptfoo(
    response: dict[str, Any], asked: dict[str, float] | None, tmp_path: Path
) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"results": [promptfoo(**response)]}}), encoding="utf-8")
    (sample,) = load(path)
    assert (sample.query, sample.answer_text) == (Q, A)
    assert sample.metadata.get("asked") == asked
