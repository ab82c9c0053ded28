"""Points in time, as files and clients write them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from ragassay.base.errors import UsageError
from ragassay.formats.format_words import wrong
from ragassay.formats.records.values.field_values import is_number

FIRST_TIME, LAST_TIME = -62135596800.0, 253402300799.0
"""Seconds since 1970 of the first and the last second that a date can name: years 1 to 9999."""


def timestamp(value: Any, field: str) -> float | None:
    """Seconds since 1970, or ``None`` where nothing was given.

    Args:
        value: such a number, a date, or ISO 8601 (UTC where it names no zone).
        field: its name, for errors.

    Raises:
        InputError: it is no point in time in the years 1 to 9999.
    """
    if value is None or value == "":
        return None
    value = _moment(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if is_number(value) and FIRST_TIME <= value <= LAST_TIME:
        return float(value)
    raise wrong("no_time", field=field)


def lacks_zone(value: Any) -> bool:
    """Whether a value (as of `timestamp`) is a date or time that names no zone."""
    moment = _moment(value)
    return isinstance(moment, datetime) and moment.tzinfo is None


def in_zone(moment: float, zone: str) -> float:
    """The point in time that a clock of a zone shows as one of UTC shows another.

    Args:
        moment: seconds since 1970 of a time without a zone that was read as UTC.
        zone: by its name, such as Europe/Berlin.

    Raises:
        UsageError: there is no such zone.
    """
    try:
        place = ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(f"There is no time zone {zone!r}; one is Europe/Berlin.") from error
    return datetime.fromtimestamp(moment, UTC).replace(tzinfo=place).timestamp()


def _moment(value: Any) -> Any:
    """A number or `datetime` for a text that is one; else the value itself."""
    if isinstance(value, str):
        with suppress(ValueError):
            return float(value)
        with suppress(ValueError):
            return datetime.fromisoformat(value.strip())
    return value
