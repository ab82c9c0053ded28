"""What a request took (time, tokens, cost), under the names in ``metadata["asked"]`` that the
metrics of the suite ``serving`` read."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.records.values.field_values import LAST_TIME, timestamp


def number(value: Any) -> float | None:
    """A finite number, also as its text; ``None`` where it is none.

    Args:
        value: what a record holds.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError):
        parsed = float(value)
        return parsed if math.isfinite(parsed) else None
    return None


def measured(
    *, start: Any = None, end: Any = None, first_token: Any = None, **numbers: Any
) -> dict[str, float]:
    """What a step took.

    Args:
        start, end, first_token: times, in any unit since 1970 (`of_any_unit`) or in ISO 8601.
        numbers: ``latency`` (seconds, also as ``2.50s``), ``latency_ms``, ``input_tokens``,
            ``output_tokens``, ``total_tokens``, ``cost`` (US dollars).

    Returns:
        Those that are known, and the seconds between the times. A number below 0 is not known.
        ``total_tokens`` only where one of the two kinds is not.
    """
    began, ended, answered = map(_seconds, (start, end, first_token))
    values = {name: _measure(value) for name, value in numbers.items()}
    milliseconds = values.pop("latency_ms", None)
    if milliseconds is not None and values.get("latency") is None:
        values["latency"] = milliseconds / 1000
    if began is not None:
        for name, moment in (("latency", ended), ("first_token", answered)):
            if moment is not None and values.get(name) is None:
                values[name] = round(moment - began, 6)
    known = {name: value for name, value in values.items() if value is not None and value >= 0}
    if {"input_tokens", "output_tokens"} <= known.keys():
        known.pop("total_tokens", None)
    return known


def _measure(value: Any) -> float | None:
    shown = _SHOWN.fullmatch(value) if isinstance(value, str) else None
    return number(value if shown is None else shown[1])


_SHOWN = re.compile(r"\s*([\d.]+)\s*s\s*")
"""A time as pages show it: ``2.50s``."""


def _seconds(value: Any) -> float | None:
    with suppress(InputError):
        return timestamp(of_any_unit(value), "")
    return None


def of_nanoseconds(value: Any) -> float | None:
    """A time that counts nanoseconds since 1970, in seconds; ``None`` where it is none.

    Args:
        value: what a record holds.
    """
    count = number(value)
    return None if count is None else count / 1e9


def of_any_unit(value: Any) -> Any:
    """A time that counts seconds, milliseconds, microseconds or nanoseconds since 1970, in seconds:
    the first of them by which it lies in the years to 9999. What is no number stays as it is.

    Args:
        value: what a record holds.
    """
    count = number(value)
    while count is not None and count > LAST_TIME:
        count /= 1000
    return value if count is None else count
