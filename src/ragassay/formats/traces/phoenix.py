"""Spans that Phoenix exports (OpenInference): JSON Lines, CSV or Parquet, one span a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.values.retrieved import unpacked
from ragassay.formats.traces import otel_records, request_spans as spans
from ragassay.formats.traces.tool_exports import reader


def _spans(row: Mapping[str, Any], line: int) -> Iterator[spans.Span]:
    own = unpacked(row.get("attributes")) or {}
    flat = {key.partition(".")[2]: value for key, value in row.items() if key[:11] == "attributes."}
    values = {**own, **{key: unpacked(value) for key, value in flat.items()}}
    made = otel_records.span(row, values, line=line)
    if not made.id or not made.trace:
        raise InputError(
            "the span has no id or no trace",
            field="context.trace_id" if made.id else "context.span_id",
            hint="Export the spans with their context.",
        )
    yield made


def _sniff(head: Head) -> int:
    flat = head.has("context.trace_id", "context.span_id")
    flat = flat or head.has("context.trace_id", "span_kind", "id")
    nested = isinstance(head.record.get("context"), dict) and head.has("span_kind")
    return SURE if flat or nested else NO


FORMAT = Format(
    name="phoenix",
    title="Spans of Phoenix / OpenInference (JSON, JSON Lines, CSV, Parquet)",
    suffixes=(".jsonl", ".json", ".parquet", ".csv"),
    sniff=_sniff,
    read=reader("Phoenix", _spans),
)
