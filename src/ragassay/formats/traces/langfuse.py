"""Langfuse: traces with their observations, observations alone, and items of data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.values import field_values
from ragassay.formats.records.values.retrieved import unpacked
from ragassay.formats.traces import request_spans as spans, served, step_contents
from ragassay.formats.traces.span_rows import first_of
from ragassay.formats.traces.tool_exports import Made, Making, Row, reader


def _spans(row: Mapping[str, Any], line: int) -> Iterator[spans.Span]:
    if isinstance(row.get("trace"), dict):  # as its pages export one
        row = {**row["trace"], "observations": row.get("observations")}
    if first_of(row, "traceId", "trace_id") is not None and "observations" not in row:
        yield _observation(row, line)
        return
    key = str(row.get("id") or f"line {line}")
    session = first_of(row, "sessionId", "session_id")
    metadata = {
        "conversation_id": session,
        "user_id": first_of(row, "userId", "user_id"),
        "version": first_of(row, "version", "release"),
        **{
            f"score.{one['name']}": first_of(one, "value", "stringValue", "string_value")
            for one in _objects(row, "scores")
            if "name" in one
        },
    }
    yield spans.Span(
        line=line,
        id=key,
        trace=key,
        name=str(row.get("name") or ""),
        start="",
        inputs=unpacked(row.get("input")),
        outputs=unpacked(row.get("output")),
        fields={"timestamp": row.get("timestamp")},
        metadata=metadata,
        served=served.measured(
            latency=row.get("latency"), cost=first_of(row, "totalCost", "total_cost")
        ),
        own=_own(row),
    )
    for one in _objects(row, "observations"):
        yield _observation({"traceId": key, **one}, line, above=key)


_INTERNALS = frozenset({"attributes", "resourceAttributes", "scope"})
"""Keys that Langfuse adds to the metadata of traces that came by OpenTelemetry."""


def _own(row: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata and tags that the makers of a system gave a trace or observation; a text or list
    in place of the metadata stands under ``metadata``."""
    written = unpacked(row.get("metadata"))
    entries = written if isinstance(written, Mapping) else {"metadata": written}
    own = {key: value for key, value in entries.items() if not _is_internal(key)}
    beside = {"tags": field_values.opened(row.get("tags")), "environment": row.get("environment")}
    beside = {key: value for key, value in beside.items() if value not in (None, "", [], "default")}
    return {**beside, **{key: value for key, value in own.items() if value not in (None, "")}}


def _is_internal(key: str) -> bool:
    return key in _INTERNALS or key.startswith(("ls_", "langfuse_", "langgraph_"))


def _objects(row: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = unpacked(row.get(name))
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _observation(row: Mapping[str, Any], line: int, above: str | None = None) -> spans.Span:
    name = str(row.get("name") or "")
    kind = spans.kind_of(row.get("type"))
    if kind == spans.OTHER and "retriev" in name.casefold():
        kind = spans.RETRIEVAL  # before Langfuse had the type, integrations named it so
    started = first_of(row, "startTime", "start_time")
    failed = row.get("level") == "ERROR"
    return spans.Span(
        line=line,
        id=str(row.get("id")),
        parent=first_of(row, "parentObservationId", "parent_observation_id") or above,
        trace=str(first_of(row, "traceId", "trace_id")),
        kind=kind,
        name=name,
        start=started,
        inputs=unpacked(row.get("input")),
        outputs=unpacked(row.get("output")),
        error=(first_of(row, "statusMessage", "status_message") or "error") if failed else None,
        fields={"timestamp": started},
        clock="start_time" if "start_time" in row else "startTime",
        metadata={
            "conversation_id": first_of(row, "sessionId", "session_id"),
            "user_id": first_of(row, "userId", "user_id"),
        },
        own=_own(row),
        served=served.measured(
            start=started,
            end=first_of(row, "endTime", "end_time"),
            first_token=first_of(row, "completionStartTime", "completion_start_time"),
            input_tokens=_counted(row, _TOKENS, "input", "promptTokens", "prompt_tokens"),
            output_tokens=_counted(row, _TOKENS, "output", "completionTokens", "completion_tokens"),
            cost=_counted(row, _COSTS, "total", *_OLDER_COSTS),
        ),
    )


_TOKENS = ("usageDetails", "usage_details", "usage")
_COSTS = ("costDetails", "cost_details")
_OLDER_COSTS = ("totalCost", "total_cost", "calculatedTotalCost", "calculated_total_cost")


def _counted(row: Mapping[str, Any], groups: Sequence[str], name: str, *older: str) -> Any:
    """A number of tokens, or a cost, as Langfuse's versions write it: by its name in the first of
    these groups that has it, else under a name of older versions."""
    for group in groups:
        counts = unpacked(row.get(group))
        if not isinstance(counts, dict) or counts.get(name) is None:
            continue
        if groups is _COSTS or counts.get("unit") in (None, "", "TOKENS"):
            return counts[name]
    return first_of(row, *older)


def _items(first: Row, mapper: Mapper) -> Making | None:
    """What makes a sample of each item of a data set; ``None`` where a file holds traces."""
    return _item if {"expectedOutput", "expected_output"} & first.keys() else None


def _item(row: Mapping[str, Any]) -> Made:
    expected = step_contents.answer(first_of(row, "expectedOutput", "expected_output"))
    record = {
        "id": row.get("id"),
        **step_contents.asked(row.get("input")),
        "references": None if expected is None else [expected],
        "metadata": unpacked(row.get("metadata")),
    }
    return {key: value for key, value in record.items() if value is not None}, None


def _sniff(head: Head) -> int:
    traces = head.has("input", "output") and (
        isinstance(head.record.get("observations"), list)
        or any(head.has(name) for name in ("sessionId", "bookmarked", "projectId"))
    )
    one_of_pages = isinstance(head.record.get("trace"), dict) and isinstance(
        head.record.get("observations"), list
    )
    observations = (head.has("traceId", "type") and head.has("startTime")) or head.has(
        "trace_id", "parent_observation_id"
    )
    if head.holds("passages", "gold", "references") and not head.has("expectedOutput"):
        return NO  # somebody's own records: Langfuse writes these into inputs and outputs
    items = head.has("input", "expectedOutput") and (
        head.has("datasetId") or head.has("sourceTraceId") or head.has("datasetName")
    )
    return SURE if traces or one_of_pages or observations or items else NO


FORMAT = Format(
    name="langfuse",
    title="Langfuse traces, observations and items of data sets (JSON, CSV)",
    suffixes=(".json", ".jsonl", ".csv"),
    sniff=_sniff,
    read=reader("Langfuse", _spans, _items),
)
