"""Texts, numbers, ids and points in time from values in files.

Every function raises `InputError` without a place; the caller that knows the file and the line adds
it. Every ``field`` is the name of the value in the data, for errors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from ragassay.base.errors import InputError, UsageError
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.records.values.cells import refuse_object, unpack as unpack

EXACT = 2**53
"""A JSON reader that holds numbers as doubles knows every integer below it."""


def text(value: Any, field: str) -> str | None:
    """A text; ``None`` where nothing was given. A number becomes its text: 1965 and 1965.0 are
    "1965" (a frame turns whole numbers into floats where one is missing)."""
    if value is None:
        return None
    if type(value) is str:
        refuse_object(value, field)
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and abs(value) < EXACT:
        return str(int(value) if value.is_integer() else value)
    raise unexpected(value, "a text", field)


def passage_text(value: Any, field: str) -> str | None:
    """As `text`, but a text that is what Python prints for an object of any class is refused."""
    refuse_object(value, field, any_object=True)
    return text(value, field)


def identifier(value: Any, field: str) -> str | None:
    """An id; ``None`` where nothing was given. Whole numbers become text, so that 7, 7.0 and "7"
    are one id."""
    if value is None or type(value) is str:
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise unexpected(value, "an id", field)


def needed_identifier(value: Any, field: str) -> str:
    """An id that must be given."""
    name = identifier(value, field)
    if name is None:
        raise wrong("null_id", field=field)
    return name


def whole_number(value: Any, field: str) -> int | None:
    """An integer below 2^53, even where it was read as ``"3"`` or ``3.0``; ``None`` where nothing
    was given."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,15}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < EXACT:
        return value
    raise unexpected(value, "a whole number", field)


def flag(value: Any, field: str) -> bool:
    """Yes or no, even where it was read as ``"true"`` or ``1``; no where nothing was given."""
    found = _FLAGS.get(str("" if value is None else value).strip().casefold())
    if found is None:
        raise unexpected(value, "true or false", field)
    return found


_FLAGS = {"": False, "false": False, "0": False, "true": True, "1": True}


def score(value: Any, field: str) -> float | None:
    """A finite number; ``None`` where nothing was given."""
    if type(value) is float and math.isfinite(value):
        return value
    if value is None:
        return None
    if is_number(value) and math.isfinite(value):
        return float(value)
    raise unexpected(value, "a score", field)


def vectors(value: Any, field: str) -> list[Any]:
    """A list of vectors: lists or arrays of numbers, also as JSON in a cell."""
    if isinstance(value, str):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        raise not_a_list(value, field, "vectors")
    return [row.tolist() if hasattr(row, "tolist") else row for row in value]


def failure(value: Any, field: str) -> str | None:
    """Why the system gave no answer; ``None`` where it gave one (``False`` and ``""`` say so)."""
    if value is None or value is False or value == "":
        return None
    if not isinstance(value, str):  # 0 may mean that all went well
        raise unexpected(value, "the reason of a failure", field)
    return value


_NO_FAILURE = frozenset({"", "none", "null", "nan", "false"})
"""What programs write, or keep, where there was no error."""


def says_failure(value: Any) -> bool:
    """Whether the value of a field for failures says that the system failed."""
    return value is not None and str(value).strip().casefold() not in _NO_FAILURE


def is_number(value: Any) -> bool:
    """Whether a value is a number; a flag is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_small(value: Any) -> bool:
    """Whether an unknown field is kept in the metadata: a scalar (texts up to 2,000 characters), or
    a list of at most 100 such scalars."""
    if isinstance(value, str):
        return len(value) <= 2000
    if isinstance(value, list):
        return len(value) <= 100 and all(
            is_small(item) and not isinstance(item, list) for item in value
        )
    return value is None or isinstance(value, bool | int | float)


def not_a_list(value: Any, field: str, of: str = "texts or objects") -> InputError:
    """The error for a value that is no list of something."""
    return unexpected(value, f"a list of {of}", field)


_DEEPEST = 100
"""Levels of lists and mappings within one another that metadata may have: more is written by no
person, and read by few programs."""


def checked_depth(metadata: dict[str, Any], key: str | None) -> dict[str, Any]:
    """The same metadata, after a check that it is not nested too deeply."""
    inner: list[Any] = [metadata]
    for _ in range(_DEEPEST):
        inner = [
            value
            for one in inner
            for value in (one.values() if isinstance(one, Mapping) else one)
            if isinstance(value, Mapping | list | tuple)
        ]
        if not inner:
            return metadata
    raise wrong("deep_metadata", field=key, most=_DEEPEST)


def folded_text(text: str) -> str:
    """A text in the form in which texts are compared: in lower case, with single blanks."""
    return " ".join(text.split()).casefold()


def texts_of(entries: Mapping[str, Any]) -> dict[str, str]:
    """The entries whose values are texts."""
    return {str(name): value for name, value in entries.items() if isinstance(value, str)}


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
