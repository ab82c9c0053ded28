"""Texts, numbers, ids and points in time from values in files, and lists and objects in texts, as
JSON or as Python prints them. ``field`` is the name of the value in the data; who calls adds file
and line to errors."""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from ragassay.base.errors import InputError, UsageError
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.sources.json_files import refuse_repeats

_LIST_CELL = re.compile(r"\s*\[\s*([\"'{\]]|\[\s*[\"'\]]|-?\d+\s*[,\]]|(?:None|nan|null)\s*[,\]])")
_OBJECT_CELL = re.compile(r"\s*\{\s*[\"'}]")
_PRINTED = re.compile(
    r"""\s*(?:
        \[\s*-?\d[\d.]*(?:\s+-?\d[\d.]*)+\s*\]  # [1 2 3]
        | \[?\s*array\(\s*\[.*\)\s*\]?          # array(['a'], dtype=object), a list of them
        | \[\s*np\.\w+\(.*\)\s*\]               # [np.str_('a'), np.str_('b')]
        | \(\s*['"].*['"]\s*,?\s*\)              # ('a', 'b')
    )\s*""",
    re.DOTALL | re.VERBOSE,
)
_CALL = r"(?:[\[(][\[(\s]*)?(?:\w+\.)*[A-Z]\w*\(\s*"
_END = r"(?:.*(?:\)\s*\]?|(?:\.\.\.|…)\s*\]?)|[^)]*)"  # closed, or cut off
_OBJECTS = rf"""
    {_CALL}(?:[a-z_]\w*[=:].*\b)?(?:(?:page_)?content|metadata|response)[=:]{_END}
    | (?:page_)?content=(['"]).*\1\s+\w+=.*          # a document or message of LangChain
    | Node\ ID:\ [-\w]+\nText:.*                   # a node of LlamaIndex
    | .*\ndtype:\ \w+|.*\nName:\ .*,\ dtype:\ \w+  # a column of pandas
    | (?:\[\s*)?(?:<[\w.]+\ object\b[^<>]*\ at\ 0x[0-9a-fA-F]+>(?:,\s*)?)+\]?
"""
_OBJECT = re.compile(rf"\s*(?:{_OBJECTS})\s*", re.DOTALL | re.VERBOSE)
"""The prints of objects that hold a text, and of any whose class prints no more than its name."""
_ANY_OBJECT = re.compile(
    rf"\s*(?:{_OBJECTS} | {_CALL}[a-z_]\w*[=:](?!=){_END} | (?:\[\s*)?<[A-Z]\w*:\ .*>\s*\]?)\s*",
    re.DOTALL | re.VERBOSE,
)
"""The prints of any object, which code that is an answer looks like, too: ``Point(x=1)``."""

_MOST = 1_000_000
"""Characters of a text that is read as Python; the parser takes some hundred times the memory."""


def unpacked(value: Any) -> Any:
    """The JSON that a text holds; any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(value)
    return value


def unpack(value: Any, field: str) -> Any:
    """A list or object that a cell holds as JSON, or as Python prints it; any other value
    unchanged.

    A text is parsed only where it begins like a list of texts, objects, lists, whole numbers or
    missing values; ``[1] Paris is ...`` stays a text. One that begins so and is no list, or names a
    key twice, is an error.
    """
    if type(value) is not str or value[:1] not in "[{ \n\t" or not value:
        return value
    if not _LIST_CELL.match(value) and not _OBJECT_CELL.match(value):
        return value
    try:
        parsed = orjson.loads(value)
        refuse_repeats(value.encode(), parsed)
        return parsed
    except orjson.JSONDecodeError:
        pass
    except InputError as error:
        raise error.but(field=field) from None
    if re.match(r"\s*\[\s*\d+\s*\]\s*\S", value):
        return value
    parsed = _evaluated(value)
    if isinstance(parsed, list | dict) and not _has_joined_texts(value):
        return parsed
    raise wrong("cell_no_list", field=field, cell=value[:60])


def opened(value: Any) -> Any:
    """As `unpack`, but a text that only begins like a list stays one."""
    with suppress(InputError):
        return unpack(value, "")
    return value


class _Missing(ast.NodeTransformer):
    """Puts None where Python prints a missing number."""

    def visit_Name(self, node: ast.Name) -> ast.AST:  # the name that ast looks for
        return ast.Constant(None) if node.id in ("nan", "NaN", "NaT") else node


def refuse_printed(value: Any, field: str) -> None:
    """Refuses a text that is wholly what numpy or Python prints for an array, a tuple or an object:
    it would count as one passage, or as one id."""
    if type(value) is not str:
        return
    text(value, field, any_object=True)
    if value.lstrip()[:1] not in "[(a" or not _PRINTED.fullmatch(value):
        return
    # A passage may stand in brackets and quotes.
    if value.lstrip()[0] != "(" or isinstance(_evaluated(value), tuple):
        raise wrong("printed_list", field=field, text=value[:60])


def _evaluated(written: str) -> Any:
    """The value that a text writes as Python does; ``None`` where it writes none."""
    if len(written) > _MOST:
        return None
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(_Missing().visit(ast.parse(written.strip(), mode="eval")))
    return None


def _has_joined_texts(value: str) -> bool:
    """Whether two quoted texts touch without a comma, as numpy prints them: Python joins them."""
    before = -1
    for token in tokenize.generate_tokens(io.StringIO(value.strip()).readline):
        if token.type == tokenize.STRING and before == tokenize.STRING:
            return True
        if token.type != tokenize.NL:
            before = token.type
    return False


EXACT = 2**53
"""A JSON reader that holds numbers as doubles knows every integer below it."""


def text(value: Any, field: str, *, any_object: bool = False) -> str | None:
    """A text; ``None`` where nothing was given. A number becomes its text: 1965 and 1965.0 are
    "1965" (a frame turns whole numbers into floats where one is missing). A text that is wholly
    what Python prints for an object or a list of objects, also cut off, is refused: its metadata
    would count as text. With ``any_object``, as is right for passages, objects of any class; else
    those of which it is known that they hold a text."""
    if type(value) is str:
        if (_ANY_OBJECT if any_object else _OBJECT).fullmatch(value):
            raise wrong("printed_object", field=field, text=value[:60])
        return value
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and abs(value) < EXACT:
        return str(int(value) if value.is_integer() else value)
    raise unexpected(value, "a text", field)


def identifier(value: Any, field: str) -> str | None:
    """An id; ``None`` where nothing was given. 7, 7.0 and "7" are one id."""
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
    """An integer below 2^53, also written as ``"3"`` or ``3.0``; ``None`` for nothing."""
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
    if value is None:
        return None
    if is_number(value) and math.isfinite(value):
        return float(value)
    raise unexpected(value, "a score", field)


def vectors(value: Any, field: str) -> list[Any]:
    """A list of vectors: lists or arrays of numbers, also as JSON in a cell."""
    value = unpacked(value)
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


def says_failure(value: Any) -> bool:
    """Whether the value of a field for failures says that the system failed: it holds more than
    what programs write, or keep, where there was no error."""
    said = "" if value is None else str(value).strip().casefold()
    return said not in ("", "none", "null", "nan", "false")


def is_number(value: Any) -> bool:
    """Whether a value is a number; a flag is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_small(value: Any) -> bool:
    """Whether an unknown field is kept in the metadata: a scalar (texts up to 2,000 characters), or
    a list of at most 100 such scalars."""
    if isinstance(value, str):
        return len(value) <= 2000
    if isinstance(value, list):
        is_flat = list not in map(type, value)
        return is_flat and len(value) <= 100 and all(map(is_small, value))
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
        parts = (part.values() if isinstance(part, Mapping) else part for part in inner)
        inner = [item for item in chain(*parts) if isinstance(item, Mapping | list | tuple)]
        if not inner:
            return metadata
    raise wrong("deep_metadata", field=key, most=_DEEPEST)


def folded_text(text: str) -> str:
    """A text in the form in which texts are compared: in lower case, with single blanks."""
    return " ".join(text.split()).casefold()


FIRST_TIME, LAST_TIME = -62135596800.0, 253402300799.0
"""Seconds since 1970 of the first and the last second that a date can name: years 1 to 9999."""


def timestamp(value: Any, field: str) -> float | None:
    """Seconds since 1970, or ``None`` where nothing was given."""
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
    """The point in time that a clock of a zone shows as one of UTC shows another."""
    try:
        place = ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(f"There is no time zone {zone!r}. An example is Europe/Berlin.") from error
    return datetime.fromtimestamp(moment, UTC).replace(tzinfo=place).timestamp()


def _moment(value: Any) -> Any:
    """A number or `datetime` for a text that is one; else the value itself."""
    if isinstance(value, str):
        with suppress(ValueError):
            return float(value)
        with suppress(ValueError):
            return datetime.fromisoformat(value.strip())
    return value
