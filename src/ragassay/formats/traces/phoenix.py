"""Spans that Phoenix exports (OpenInference): JSON Lines, CSV or Parquet, one span a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records import Mapper, timestamp, unpacked
from ragassay.formats.traces import attributes, trace_spans as spans
from ragassay.formats.traces.span_rows import rows
from ragassay.samples import Sample


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """A sample for each trace.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a span cannot be read.
    """
    yield from spans.samples(rows(path, mapper), _spans, "Phoenix", mapper)


def _spans(row: Mapping[str, Any], line: int) -> Iterator[spans.Span]:
    context = unpacked(row.get("context")) or {}
    own = unpacked(row.get("attributes")) or {}
    flat = {key.partition(".")[2]: value for key, value in row.items() if key[:11] == "attributes."}
    name = row.get("context.span_id") or context.get("span_id") or row.get("span_id")
    name = name or row.get("id")  # the index of a frame that pandas wrote as JSON
    trace = row.get("context.trace_id") or context.get("trace_id") or row.get("trace_id")
    if not name or not trace:
        raise InputError(
            "the span has no id or no trace",
            field="context.trace_id" if name else "context.span_id",
            hint="Export the spans with their context.",
        )
    failed = str(row.get("status_code") or "").upper() == "ERROR"
    started = row.get("start_time")
    begun = timestamp(_time(started), "start_time")
    yield attributes.span(
        {**own, **{key: unpacked(value) for key, value in flat.items()}},
        kind=row.get("span_kind"),
        line=line,
        id=str(name),
        parent=row.get("parent_id") or None,
        trace=str(trace),
        name=str(row.get("name") or ""),
        begun=begun,
        ended=_time(row.get("end_time")),
        start=started,
        error=(row.get("status_message") or "error") if failed else None,
        fields={"timestamp": begun},
    )


_MILLISECONDS = 1e11
"""From here on a number counts milliseconds since 1970, as pandas writes times to JSON: in seconds
it would be after the year 5000."""


def _time(value: Any) -> Any:
    """A time; where it counts milliseconds, in seconds."""
    return value / 1000 if isinstance(value, int | float) and value >= _MILLISECONDS else value


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
    read=read,
)
