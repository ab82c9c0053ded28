"""MLflow: traces, tables of traces, and the data and results of its evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.values.retrieved import unpacked
from ragassay.formats.traces import otel_records, request_spans as spans, step_contents
from ragassay.formats.traces.tool_exports import Making, Row, reader


def _evaluated(first: Row, mapper: Mapper) -> Making | None:
    """What makes a sample of each row of an evaluation; ``None`` where a file holds traces."""
    if "expectations" not in first or "spans" in first or "data" in first:
        return None
    return lambda row: (_row(row, mapper), {name: unpacked(row.get(name)) for name in _RAW})


def _spans(row: Mapping[str, Any], line: int) -> Iterator[spans.Span]:
    trace_object = unpacked(row.get("trace"))
    if isinstance(trace_object, dict):
        row = {**row, **trace_object}
    info = unpacked(row.get("info")) or row
    data = unpacked(row.get("data")) or row
    listed = unpacked(data.get("spans"))
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InputError(
            "a list of spans is expected",
            field="spans",
            hint="Export traces with their spans (trace.to_json(), or search_traces).",
        )
    trace = str(info.get("trace_id") or info.get("request_id") or f"line {line}")
    failed = str(info.get("state") or info.get("status") or "").endswith("ERROR")
    fields = {
        "timestamp": info.get("request_time", info.get("timestamp_ms")),
        **_expected(info.get("assessments")),
    }
    metadata, own = _of_trace(row, info)
    for one in listed:
        values = unpacked(one.get("attributes")) or {}
        values = {key: unpacked(value) for key, value in values.items() if value != "null"}
        made = otel_records.span(one, values, line=line, trace=trace, fields={})
        if made.parent is None:  # values of the trace count before those of its first span
            made = replace(
                made,
                error=made.error or ("error" if failed else None),
                fields=fields,
                clock="request_time" if "request_time" in info else "timestamp_ms",
                metadata={**made.metadata, **metadata},
                own={**made.own, **own},
            )
        yield made


def _of_trace(row: Row, info: Row) -> tuple[dict[str, Any], dict[str, Any]]:
    """The session and user of a trace, and the tags and metadata that its makers gave it. Those of
    MLflow itself begin with ``mlflow.``."""
    entries: dict[str, Any] = {}
    for place in ("request_metadata", "trace_metadata", "tags"):
        written = unpacked(info.get(place, row.get(place)))
        if isinstance(written, Mapping):
            entries |= written
    places = {"conversation_id": "mlflow.trace.session", "user_id": "mlflow.trace.user"}
    of_request = {key: entries[name] for key, name in places.items() if entries.get(name)}
    return of_request, {key: one for key, one in entries.items() if not key.startswith("mlflow.")}


def _expected(assessments: Any) -> dict[str, Any]:
    """References among the assessments of a trace."""
    for one in unpacked(assessments) or ():
        name = one.get("assessment_name", one.get("name")) if isinstance(one, dict) else None
        if name == "expected_response":
            expectation = one.get("expectation") or {}
            value = expectation.get("value") if isinstance(expectation, dict) else expectation
            return {} if value is None else {"references": [str(value)]}
    return {}


_RAW = ("inputs", "outputs", "expectations")
"""The columns of a table of evaluation data that hold objects."""


def _row(row: Mapping[str, Any], mapper: Mapper) -> dict[str, Any]:
    inputs, outputs = unpacked(row.get("inputs")), unpacked(row.get("outputs"))
    expected = unpacked(row.get("expectations")) or {}
    retrieved = expected.get("expected_retrieved_context")
    passages = step_contents.passages(outputs, inputs)
    of_row = {FIELD_OF.get(folded(key)) for key in row}
    if "passage_ids" not in mapper.columns and "passage_ids" not in of_row:
        passages = _with_addresses(passages, retrieved, mapper)
    record = mapper.unchosen(
        {
            "id": row.get("id") or row.get("request_id") or row.get("trace_id"),
            **step_contents.asked(inputs),
            "answer": step_contents.answer(outputs),
            "passages": passages,
            "references": expected.get("expected_response"),
            "gold": [_gold(one) for one in retrieved] if isinstance(retrieved, list) else None,
            "metadata": row.get("tags"),
        }
    )
    # What its tables do not have is somebody's own column.
    own = {key: value for key, value in row.items() if FIELD_OF.get(folded(key)) in _OWN}
    return {key: value for key, value in own.items() if key not in mapper.columns} | record


_OWN = frozenset(
    {"id", "system", "repeat", "query_run", "passages", "passage_ids", "gold", "gold_ids"}
)
"""Fields that a table of evaluation data may have by our names."""


def _with_addresses(passages: list[Any] | None, expected: Any, mapper: Mapper) -> list[Any] | None:
    """The passages with the addresses of their documents (``doc_uri``) as their ids, as MLflow
    compares them with what is expected. An id of their own stays where nothing is expected so."""
    by_address = isinstance(expected, list) and any(
        isinstance(one, dict) and one.get("doc_uri") is not None for one in expected
    )
    made: list[Any] = []
    for one in passages or ():
        parts = (one, one.get("metadata")) if isinstance(one, dict) else ()
        addresses = [part.get("doc_uri") for part in parts if isinstance(part, dict)]
        address = next(filter(None, addresses), None)
        own = one.get("id") if isinstance(one, dict) else None
        if address is None or (own is not None and not by_address):
            made.append(one)
            continue
        if own not in (None, address):
            mapper.note(
                "passages with an id beside the doc_uri by which gold is named",
                "The doc_uri counts as their id.",
            )
        made.append({**one, "id": address})
    return passages if passages is None else made


def _gold(one: Any) -> Any:
    if not isinstance(one, dict) or "doc_uri" not in one:
        return one
    return {"id": one["doc_uri"], "text": one.get("content")}


def _sniff(head: Head) -> int:
    data = head.record.get("data")
    is_trace = isinstance(data, dict) and "spans" in data and "info" in head.record
    is_table = head.has("spans") and (head.has("trace_id") or head.has("request_id"))
    is_table = is_table and not head.holds("passages", "gold")
    expected = unpacked(head.record.get("expectations"))
    is_told = head.container != "json" or isinstance(expected, dict | None)
    rows_of_evaluation = head.has("inputs", "expectations") and is_told
    return SURE if is_trace or is_table or rows_of_evaluation else NO


FORMAT = Format(
    name="mlflow",
    title="MLflow traces and evaluation data (JSON, CSV, Parquet)",
    suffixes=(".json", ".jsonl", ".parquet", ".csv"),
    sniff=_sniff,
    read=reader("MLflow", _spans, _evaluated),
)
