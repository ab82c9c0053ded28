"""OpenTelemetry traces as OTLP writes them in JSON: a document, or an export request a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.traces import otel_records, request_spans as spans
from ragassay.formats.traces.tool_exports import reader


def _spans(record: Mapping[str, Any], line: int) -> Iterator[spans.Span]:
    for resource in _list(record, "resourceSpans", "resource_spans"):
        for scope in _list(resource, "scopeSpans", "scope_spans"):
            for one in _list(scope, "spans"):
                yield _span(one, line)


def _list(record: Mapping[str, Any], *names: str) -> list[Any]:
    value = next((record[name] for name in names if name in record), None)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(
            "a list of objects is expected",
            field=names[0],
            hint="Export the traces as OTLP JSON.",
        )
    return value


def _span(one: Mapping[str, Any], line: int) -> spans.Span:
    listed = one.get("attributes") or []
    if not isinstance(listed, list):
        raise InputError("a list is expected", field="attributes")
    values = {str(item.get("key")): _value(item.get("value")) for item in listed}
    return otel_records.span(one, values, line=line)


def _value(value: Any) -> Any:
    """A value of OTLP's JSON as it is."""
    if not isinstance(value, dict):
        return value
    for name, one in value.items():
        if name in ("arrayValue", "array_value"):
            return [_value(item) for item in one.get("values") or ()]
        if name in ("kvlistValue", "kvlist_value"):
            return {item["key"]: _value(item.get("value")) for item in one.get("values") or ()}
        return int(one) if name in ("intValue", "int_value") else one
    return None


def _sniff(head: Head) -> int:
    fits = head.has("resourceSpans") or head.has("resource_spans")
    return SURE if head.container == "json" and fits else NO


FORMAT = Format(
    name="otlp",
    title="OpenTelemetry traces, OTLP JSON (OpenInference, GenAI and OpenLLMetry attributes)",
    suffixes=(".json", ".jsonl"),
    sniff=_sniff,
    read=reader("OpenTelemetry", _spans),
)
