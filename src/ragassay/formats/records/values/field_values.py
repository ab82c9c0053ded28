"""From values in files to the parts of a sample: one function for each part.

Every function raises `InputError` without a place; the caller that knows the file and the line adds
it. Every ``field`` is the name of the value in the data, for errors.
"""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson

from ragassay.base.errors import InputError
from ragassay.formats.sources.json_files import refuse_repeats
from ragassay.formats.sources.kinds import unexpected

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
_AS_JSON = (
    'Write lists as JSON: ["first", "second"]. In pandas, df["column"].map(json.dumps) writes '
    "them so before to_csv; arrays need .map(lambda one: json.dumps(one.tolist()))."
)
_EXACT = 2**53  # a JSON reader that holds numbers as doubles knows every integer below it


def text(value: Any, field: str) -> str | None:
    """A text, or ``None`` where nothing was given.

    A number becomes its text: 1965 and 1965.0 are "1965" (a frame turns whole numbers into floats
    where one is missing).

    Args:
        value: what the record holds.
        field: its name, for errors.

    Raises:
        InputError: it is no text or number, or a float from 2^53 on, whose digits may not be those
            that were written.
    """
    if value is None:
        return None
    if type(value) is str:
        refuse_object(value, field)
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and abs(value) < _EXACT:
        return str(int(value) if value.is_integer() else value)
    raise unexpected(value, "a text", field, 'Write it as a text, in quotes: "...".')


def identifier(value: Any, field: str) -> str | None:
    """An id, or ``None`` where nothing was given. Whole numbers become text, so that 7, 7.0 and "7"
    are one id.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Raises:
        InputError: it is no text or whole number below 2^53.
    """
    if value is None or type(value) is str:
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    hint = "Ids are texts or whole numbers below 2^53; write longer ones as texts."
    raise unexpected(value, "an id", field, hint)


def whole_number(value: Any, field: str) -> int | None:
    """An integer, even where it was read as ``"3"`` or ``3.0``; ``None`` where nothing was given.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Raises:
        InputError: it is no whole number below 2^53.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,15}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _EXACT:
        return value
    raise unexpected(value, "a whole number", field)


def flag(value: Any, field: str) -> bool:
    """Yes or no, even where it was read as ``"true"`` or ``1``; no where nothing was given.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Raises:
        InputError: it is neither.
    """
    found = _FLAGS.get(str("" if value is None else value).strip().casefold())
    if found is None:
        raise unexpected(value, "true or false", field)
    return found


_FLAGS = {"": False, "false": False, "0": False, "true": True, "1": True}


def score(value: Any, field: str) -> float | None:
    """A finite number, or ``None`` where nothing was given.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Raises:
        InputError: it is no finite number.
    """
    if type(value) is float and math.isfinite(value):
        return value
    if value is None:
        return None
    if is_number(value) and math.isfinite(value):
        return float(value)
    hint = "Scores are finite numbers, without quotes; leave the score out if there is none."
    raise unexpected(value, "a score", field, hint)


def vectors(value: Any, field: str) -> list[Any]:
    """A list of vectors: lists or arrays of numbers, also as JSON in a cell.

    Args:
        value: what the record holds.
        field: its name, for errors.

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
    """A list or object that a single cell holds as JSON, or as Python prints it.

    A text is parsed only where it begins like a list of texts, objects, lists, whole numbers or
    missing values; ``[1] Paris is ...`` stays a text.

    Args:
        value: what the cell holds.
        field: its name, for errors.

    Returns:
        The list or object; any other value unchanged.

    Raises:
        InputError: the text begins like a list but is none, or names a key twice.
    """
    if type(value) is not str or value[:1] not in "[{ \n\t" or not value:
        return value
    if not _LIST_CELL.match(value) and not _OBJECT_CELL.match(value):
        return value
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        pass
    else:
        try:
            refuse_repeats(value.encode(), parsed)
        except InputError as error:
            raise error.but(field=field) from None
        return parsed
    if re.match(r"\s*\[\s*\d+\s*\]\s*\S", value):
        return value
    parsed = _evaluated(value)
    if isinstance(parsed, list | dict) and not _has_joined_texts(value):
        return parsed
    raise InputError(
        f"the cell begins like a list but is none: {value[:60]!r}",
        field=field,
        hint='Write lists as JSON: ["first", "second"].' if parsed is None else _AS_JSON,
    )


def opened(value: Any) -> Any:
    """The list or object in a text, as `unpack` finds it; any other value unchanged, also a text
    that only begins like one.

    Args:
        value: what the record holds.
    """
    with suppress(InputError):
        return unpack(value, "")
    return value


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


def refuse_object(value: Any, field: str, *, any_object: bool = False) -> None:
    """Refuses a text that is wholly what Python prints for an object or a list of objects, also cut
    off: its metadata would count as text.

    Args:
        value: what the record holds; anything but a text passes.
        field: its name, for errors.
        any_object: whether an object of any class is refused, as is right for passages; else only
            those of which it is known that they hold a text.

    Raises:
        InputError: it is such a text.
    """
    if type(value) is str and (_ANY_OBJECT if any_object else _OBJECT).fullmatch(value):
        raise InputError(
            f"the text is an object as Python prints it: {value[:60]!r}",
            field=field,
            hint="Write its text alone (.content, .page_content, .get_content()), and lists of "
            'texts as JSON: ["first", "second"].',
        )


def passage_text(value: Any, field: str) -> str | None:
    """As `text`, but a text that is what Python prints for an object of any class is refused.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Raises:
        InputError: see `text`; or it is such a text.
    """
    refuse_object(value, field, any_object=True)
    return text(value, field)


def refuse_printed(value: Any, field: str) -> None:
    """Refuses a text that is wholly what numpy or Python prints for an array, a tuple or an object:
    it would count as one passage, or as one id.

    Args:
        value: what the record holds; anything but a text passes.
        field: its name, for errors.

    Raises:
        InputError: it is such a text.
    """
    refuse_object(value, field, any_object=True)
    if type(value) is not str or value.lstrip()[:1] not in "[(a" or not _PRINTED.fullmatch(value):
        return
    # A passage may stand in brackets and quotes.
    if value.lstrip()[0] == "(" and not isinstance(_evaluated(value), tuple):
        return
    raise InputError(
        f"the text holds a list as numpy or Python prints it: {value[:60]!r}",
        field=field,
        hint=_AS_JSON,
    )


def _evaluated(written: str) -> Any:
    """The value that a text writes as Python does; ``None`` where it writes none."""
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(written.strip())
    return None


def _has_joined_texts(value: str) -> bool:
    """Whether two quoted texts touch without a comma, as numpy prints them; Python would join them
    silently."""
    before = -1
    for token in tokenize.generate_tokens(io.StringIO(value.strip()).readline):
        if token.type == tokenize.STRING and before == tokenize.STRING:
            return True
        if token.type != tokenize.NL:
            before = token.type
    return False


def failure(value: Any, field: str) -> str | None:
    """Why the system gave no answer; ``None`` where it gave one (``False`` and ``""`` say so).

    Args:
        value: what the record holds.
        field: its name, for errors.

    Raises:
        InputError: it is no text.
    """
    if value is None or value is False or value == "":
        return None
    if not isinstance(value, str):  # 0 may mean that all went well
        hint = 'Write it as a text, in quotes: "...".'
        raise unexpected(value, "the reason of a failure", field, hint)
    return value


_NO_FAILURE = frozenset({"", "none", "null", "nan", "false"})
"""What programs write, or keep, where there was no error."""


def says_failure(value: Any) -> bool:
    """Whether the value of a field for failures says that the system failed.

    Args:
        value: what a record holds.
    """
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


def needed_identifier(value: Any, field: str) -> str:
    """An id that must be given.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Raises:
        InputError: there is no id, or it is no text or whole number.
    """
    name = identifier(value, field)
    if name is None:
        raise InputError("an id is null", field=field)
    return name


def not_a_list(value: Any, field: str, of: str = "texts or objects") -> InputError:
    """The error for a value that is no list.

    Args:
        value: what the record holds.
        field: its name, for errors.
        of: what the list should hold.
    """
    hint = "Should the column mean something else, rename it or name the right one in columns."
    return unexpected(value, f"a list of {of}", field, hint)


_DEEPEST = 100
"""Levels of lists and mappings within one another that metadata may have: more is written by no
person, and read by few programs."""


def checked_depth(metadata: dict[str, Any], key: str | None) -> dict[str, Any]:
    """The same metadata, after a check that it is not nested too deeply.

    Args:
        metadata: the metadata.
        key: its name, for errors.

    Raises:
        InputError: something in it is nested more than 100 levels deep.
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


def folded_text(text: str) -> str:
    """A text in the form in which texts are compared: in lower case, with single blanks.

    Args:
        text: such as a query.
    """
    return " ".join(text.split()).casefold()


def texts_of(entries: Mapping[str, Any]) -> dict[str, str]:
    """The entries whose values are texts.

    Args:
        entries: by name.
    """
    return {str(name): value for name, value in entries.items() if isinstance(value, str)}
