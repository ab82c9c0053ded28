"""From the values that files hold to the nouns: one function for each part of a sample.

Every function raises `InputError` without a place; whoever knows the file and the line adds it.
"""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson

from ragassay.errors import InputError
from ragassay.formats.kinds import kind
from ragassay.formats.opening import refuse_repeats

_LIST_CELL = re.compile(r"\s*\[\s*([\"'{\]]|\[\s*[\"'\]]|-?\d+\s*[,\]])")
_OBJECT_CELL = re.compile(r"\s*\{\s*[\"'}]")
_EXACT = 2**53  # a JSON reader that holds numbers as doubles knows every integer below it
_YEAR_9999 = 253402300800.0


def text(value: Any, field: str) -> str | None:
    """A text, or ``None`` where nothing was given. A number is its text: 1965 and 1965.0 are "1965"
    (a frame makes floats of whole numbers where one is missing).

    A float from 2^53 on is refused, since its digits may not be those that were written.
    """
    if value is None or type(value) is str:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and abs(value) < _EXACT:
        return str(int(value) if value.is_integer() else value)
    raise InputError(
        f"{kind(value)} stands where a text is expected",
        field=field,
        hint='Write it as a text, in quotes: "...".',
    )


def identifier(value: Any, field: str) -> str | None:
    """An id. Whole numbers become text, so that 7, 7.0 and "7" are one id."""
    if value is None or type(value) is str:
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        f"{kind(value)} stands where an id is expected",
        field=field,
        hint="Ids are texts or whole numbers below 2^53; write longer ones as texts.",
    )


def whole_number(value: Any, field: str) -> int | None:
    """An integer, also when it was read as ``"3"`` or ``3.0``."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,15}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _EXACT:
        return value
    raise InputError(f"{kind(value)} stands where a whole number is expected", field=field)


def score(value: Any, field: str) -> float | None:
    """A finite number."""
    if type(value) is float and math.isfinite(value):
        return value
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise InputError(
        f"{kind(value)} stands where a score is expected",
        field=field,
        hint="Scores are finite numbers, without quotes; leave the score out if there is none.",
    )


def timestamp(value: Any, field: str) -> float | None:
    """Seconds since 1970, from such a number, a date, or ISO 8601 (UTC where it names no zone)."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            try:
                value = datetime.fromisoformat(value.strip())
            except ValueError:
                value = None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _YEAR_9999:
        return float(value)
    raise InputError(
        "this is no point in time",
        field=field,
        hint="Give seconds since 1970 or ISO 8601, for example 2026-01-31T09:30:00Z.",
    )


def vectors(value: Any, field: str) -> list[Any]:
    """A list of vectors: lists or arrays of numbers, also as JSON in a cell.

    Raises:
        InputError: it is no list.
    """
    if isinstance(value, str):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        raise not_a_list(value, field, "vectors")
    return [row.tolist() if hasattr(row, "tolist") else row for row in value]


def unpack(value: Any, field: str) -> Any:
    """A list or object that stands in a single cell as JSON, or as Python prints it.

    A text is taken apart only when it begins as a list of texts, objects, lists or whole numbers
    does; ``[1] Paris is ...`` stays a text.
    """
    if type(value) is not str or value[:1] not in "[{ \n\t" or not value:
        return value
    if not _LIST_CELL.match(value) and not _OBJECT_CELL.match(value):
        return value
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError:
        pass
    else:
        try:
            refuse_repeats(value.encode(), found)
        except InputError as error:
            raise InputError(error.problem, field=field, hint=error.hint) from None
        return found
    if re.match(r"\s*\[\s*\d+\s*\]\s*\S", value):
        return value
    try:
        found = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    if isinstance(found, list | dict) and not _has_joined_texts(value):
        return found
    raise InputError(
        f"the cell begins like a list but is none: {value[:60]!r}",
        field=field,
        hint='Write lists as JSON: ["first", "second"].',
    )


def _has_joined_texts(value: str) -> bool:
    """Whether two quoted texts touch without a comma, as numpy prints them: Python would join
    them into one, silently."""
    before = -1
    for token in tokenize.generate_tokens(io.StringIO(value.strip()).readline):
        if token.type == tokenize.STRING and before == tokenize.STRING:
            return True
        if token.type != tokenize.NL:
            before = token.type
    return False


def failure(value: Any, field: str) -> str | None:
    """Why the system gave no answer; ``False`` and ``""`` say that it did."""
    if value is None or value is False or value == "":
        return None
    if not isinstance(value, str):  # 0 may mean that all went well
        raise InputError(
            f"{kind(value)} stands where the reason of a failure is expected",
            field=field,
            hint='Write it as a text, in quotes: "...".',
        )
    return value


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


def needed_identifier(value: Any, field: str) -> str:
    """An id that must be there."""
    name = identifier(value, field)
    if name is None:
        raise InputError("an id is null", field=field)
    return name


def not_a_list(value: Any, field: str, of: str = "texts or objects") -> InputError:
    """The error for a value that is no list."""
    return InputError(
        f"{kind(value)} stands where a list of {of} is expected",
        field=field,
        hint="Should the column mean something else, rename it or name the right one in columns.",
    )


_DEEPEST = 100
"""Levels of lists and mappings within one another that metadata may have: more is written by no
person, and read by few programs."""


def shallow(metadata: dict[str, Any], key: str | None) -> dict[str, Any]:
    """The same metadata.

    Raises:
        InputError: something in it is nested too deeply.
    """
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
    raise InputError(
        f"the metadata is nested more than {_DEEPEST} levels deep",
        field=key,
        hint="Leave out what no report needs.",
    )
