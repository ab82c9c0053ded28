"""Records of spans as OpenTelemetry, Phoenix and MLflow write them. All of these use one of a few
names for ids, times and status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.formats.records.values.retrieved import unpacked
from ragassay.formats.traces import attributes, served
from ragassay.formats.traces.request_spans import Span
from ragassay.formats.traces.span_rows import first_of

_ID = ("spanId", "span_id", "context.span_id", "id")
_PARENT = ("parentSpanId", "parent_span_id", "parent_id")
_TRACE = ("traceId", "trace_id", "context.trace_id")
_START = ("startTimeUnixNano", "start_time_unix_nano", "start_time_ns", "start_time")
_END = ("endTimeUnixNano", "end_time_unix_nano", "end_time_ns", "end_time")
_FAILED = ("2", "ERROR", "STATUS_CODE_ERROR")


def span(record: Mapping[str, Any], given: Mapping[str, Any], **known: Any) -> Span:
    """A span of its record.

    Args:
        record: the record.
        given: its attributes, by dotted names, or nested, or both.
        known: values from elsewhere in the export, as of `attributes.span`; they win over those of
            the record.
    """
    record = {**record, **_context(record)}
    started = _moment(record, _START)
    return attributes.span(
        given,
        **{
            "kind": record.get("span_kind", record.get("span_type")),
            "id": str(first_of(record, *_ID) or ""),
            "parent": first_of(record, *_PARENT),
            "trace": str(first_of(record, *_TRACE) or ""),
            "name": str(record.get("name") or ""),
            "begun": started,
            "ended": _moment(record, _END),
            "start": first_of(record, *_START),
            "error": _error(record),
            "fields": {"timestamp": started},
            "clock": next((name for name in _START if name in record), "timestamp"),
            **known,
        },
    )


def _context(record: Mapping[str, Any]) -> dict[str, Any]:
    context = unpacked(record.get("context"))
    return {f"context.{key}": one for key, one in context.items()} if context else {}


def _moment(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """A time. Names before the last one say that it counts nanoseconds, however few."""
    counted = first_of(record, *names[:-1])
    return first_of(record, *names[-1:]) if counted is None else served.of_nanoseconds(counted)


def _error(record: Mapping[str, Any]) -> str | None:
    """Why a span failed; ``None`` where it did not."""
    status = unpacked(record.get("status"))
    details = status if isinstance(status, Mapping) else {}
    code = details.get("code", record.get("status_code"))
    if str(code or "").upper() not in _FAILED:
        return None
    return str(details.get("message") or record.get("status_message") or "error")
