"""Records as the JSON that is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ragassay.base.errors import InputError, UsageError

MOST_BYTES = 32 * 1024**2
"""Of a request that the service reads as JSON."""


def iso_time(time: datetime) -> str:
    """A time in ISO 8601.

    Raises:
        UsageError: it names no zone.
    """
    if time.tzinfo is None:
        raise UsageError(f"{time} has no time zone. Give it one: time.replace(tzinfo=UTC).")
    return time.isoformat()


def record_json(record: Mapping[str, Any], number: int | None = None) -> str:
    """The JSON of a record.

    Args:
        record: with times as `datetime` or as JSON has them.
        number: of the record, from 1, for messages.

    Raises:
        UsageError: it is no mapping, or a time in it names no zone.
        InputError: JSON cannot hold a value, or the record is too large.
    """
    if not isinstance(record, Mapping):
        raise UsageError("A record is a mapping of fields to values.")
    parts, size = [], 0
    for field, value in record.items():
        try:
            part = f"{json.dumps(str(field))}: {_dumped(value)}"
            size += len(part.encode())
        except (TypeError, ValueError, RecursionError) as error:
            problem = "a number that is not finite, half a character, or too many lists in lists"
            raise InputError(
                f"holds {error if isinstance(error, TypeError) else problem}",
                line=number,
                field=str(field),
                hint="A record has texts, finite numbers, lists, dicts and times.",
            ) from error
        parts.append(part)
    if size > MOST_BYTES:
        raise InputError(
            f"the record has {size / 1024**2:,.0f} MB; {MOST_BYTES // 1024**2} MB are the most",
            line=number,
        )
    return f"{{{', '.join(parts)}}}"


def _dumped(value: Any) -> str:
    return json.dumps(value, allow_nan=False, default=_of_other, ensure_ascii=False)


def _of_other(value: Any) -> str:
    if isinstance(value, datetime):
        return iso_time(value)
    raise TypeError(f"a value of type {type(value).__name__}")
