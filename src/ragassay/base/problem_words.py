"""What is wrong with data, in words: of pydantic, of JSON parsers, of the operating system."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping, Sequence
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi.exceptions import RequestValidationError
    from pydantic import ValidationError

_SHOWN = 60
"""Longest piece of a wrong value in a message."""

_KEY_LIKE = re.compile(r"(?<![\w./-])[A-Za-z0-9_-]{24,}(?![\w./-])")
"""What may be a secret that stands in the wrong place."""

_MUST_BE = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "a mapping of keys to values",
    "mapping_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "dataclass_type": "a mapping of keys to values",
    "dataclass_exact_type": "a mapping of keys to values",
    "none_required": "null",
    "path_type": "a path",
    "datetime_type": "a date with a time",
    "datetime_parsing": "a date with a time, such as 2026-01-31T12:00:00Z",
    "datetime_from_date_parsing": "a date with a time, such as 2026-01-31T12:00:00Z",
    "date_type": "a date",
    "date_parsing": "a date, such as 2026-01-31",
    "date_from_datetime_parsing": "a date, such as 2026-01-31",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "multiple_of": "a multiple of {multiple_of:g}",
    "string_pattern_mismatch": "of the form {pattern}",
}
"""What a value must be, by pydantic's type of its mistake."""

_OTHER_MISTAKES = {
    "missing": "is missing",
    "missing_argument": "is missing",
    "missing_keyword_only_argument": "is missing",
    "extra_forbidden": "is not a key that is known",
    "unexpected_keyword_argument": "is not a key that is known",
    "invalid_key": "has a key that is no text",
    "too_short": "has too few items: {actual_length}, and it must have at least {min_length}",
    "too_long": "has too many items: {actual_length}, and it must have at most {max_length}",
    "string_too_long": "has more than {max_length:,} characters",
    "string_unicode": "is not text in UTF-8",
}

_WITHOUT_VALUE = {*_OTHER_MISTAKES, "value_error", "assertion_error", "json_invalid"}
"""Mistakes of which the wrong value says nothing, or whose sentence shows it."""

_OF_A_UNION = re.compile(r"(str|int|float|bool|list|dict|tuple|set|none|[a-z-]+\[.*\])")
"""How pydantic names a choice of a union in a place."""


def shown_value(value: object) -> str:
    """A wrong value as messages show it: not all of a long one, and nothing like a key."""
    text = _KEY_LIKE.sub("...", repr(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def mistakes(error: ValidationError | RequestValidationError) -> list[tuple[tuple[str, ...], str]]:
    """The mistakes that a validation found, in plain words.

    Args:
        error: of pydantic, or of a request to the service.

    Returns:
        Of each mistake the place (keys and numbers of items; empty for the whole value) and what is
        wrong there, as in ``must be a whole number, not 'x'``. Where a value may be of several
        types, one mistake says what it must be.
    """
    by_place: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for one in error.errors():
        place = tuple(str(piece) for piece in one["loc"] if piece != "[key]")
        if one["type"] in _MUST_BE and place and _OF_A_UNION.fullmatch(place[-1]):
            place = place[:-1]
        by_place.setdefault(place, []).append(one)
    return [(place, _mistake(several)) for place, several in by_place.items()]


def mistake(error: ValidationError) -> tuple[str | None, str]:
    """The first mistake that a validation found.

    Args:
        error: of pydantic.

    Returns:
        The field (``gold.0.start``; ``None`` for the whole value), and what is wrong there; see
        `mistakes`.
    """
    place, problem = mistakes(error)[0]
    return ".".join(place) or None, problem


def validation_problem(error: ValidationError) -> str:
    """The first mistake that a validation found as ``field: what is wrong``; see `mistakes`."""
    field, problem = mistake(error)
    return problem if field is None else f"{field}: {problem}"


def _mistake(several: Sequence[Mapping[str, Any]]) -> str:
    first = several[0]
    kind, context = str(first["type"]), first.get("ctx") or {}
    if len(several) > 1 and all(one["type"] in _MUST_BE for one in several):
        kinds = (_MUST_BE[one["type"]].format(**(one.get("ctx") or {})) for one in several)
        problem = f"must be {' or '.join(dict.fromkeys(kinds))}"
    elif kind in _MUST_BE:
        problem = f"must be {_MUST_BE[kind].format(**context)}"
    elif kind == "too_short" and not context["actual_length"]:
        return "is empty"
    elif kind == "too_long" and isinstance(first["input"], str):
        return _OTHER_MISTAKES["string_too_long"].format(**context)
    elif kind in _OTHER_MISTAKES:
        return _OTHER_MISTAKES[kind].format(**context)
    elif kind == "string_too_short":
        least = context["min_length"]
        return "is empty" if not first["input"] else f"has fewer than {least} characters"
    elif kind == "json_invalid":
        return f"is not JSON ({_of_pydantic(str(context.get('error', '')))})"
    else:
        problem = re.sub(r"^(Value|Assertion) error, ", "", str(first["msg"]))
        problem = re.sub(r"^Input should be ", "must be ", problem).rstrip(".")
        problem = problem if problem[1:2].isupper() else f"{problem[:1].lower()}{problem[1:]}"
    if kind in _WITHOUT_VALUE:
        return problem
    return f"{problem}, not {shown_value(first['input'])}"


def _of_pydantic(message: str) -> str:
    """What pydantic's JSON parser says, with the place first."""
    match = re.fullmatch(r"(.*) at line (\d+) column (\d+)", message)
    return (
        message if match is None else f"line {match[2]}, column {match[3]}: {json_words(match[1])}"
    )


_JSON_PROBLEMS = {
    "expecting value": "a value is missing",
    "expected value": "a value is missing",
    "key must be a string": "a key in double quotes is missing",
    "expected `,` or `}`": "a comma or } is missing",
    "expected `,` or `]`": "a comma or ] is missing",
    "expected `:`": "a colon is missing",
    "trailing comma": "a comma stands before a closing bracket",
    "trailing characters": "something follows after the value",
    "eof while parsing a value": "it ends in the middle of a value",
    "eof while parsing an object": "it ends in the middle of a value",
    "eof while parsing a list": "it ends in the middle of a value",
    "eof while parsing a string": "it ends in the middle of a value",
    "expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "unexpected character, expected a string key": "a key in double quotes is missing",
    "expecting ':' delimiter": "a colon is missing",
    "unexpected character, expected ':' after key": "a colon is missing",
    "expecting ',' delimiter": "a comma is missing",
    "unexpected character, expected ',' or ']'": "a comma or ] is missing",
    "unexpected character, expected ',' or '}'": "a comma or } is missing",
    "unexpected character, expected a json value": "a value is missing",
    "trailing comma is not allowed": "a comma stands before a closing bracket",
    "extra data": "something follows after the value",
    "unexpected content after document": "something follows after the value",
    "unterminated string starting at": "a text has no closing quote",
    "invalid control character at": "a text holds a line break or another control character",
    "unexpected control character in string": "a text holds a line break or another control "
    "character",
    "invalid \\escape": "a backslash stands before a character that it cannot stand before",
    "invalid escaped sequence in string": "a backslash stands before a character that it cannot "
    "stand before",
}
"""What is wrong with JSON, by the words of the parsers (Python's, orjson's and pydantic's)."""


def json_words(message: str) -> str:
    """What a JSON parser says in our words, without the place.

    Args:
        message: ``msg`` of its error.
    """
    folded = message.strip().casefold()
    if folded.startswith("str is not valid utf-8"):
        return "it is not text in UTF-8"
    return _JSON_PROBLEMS.get(folded, folded)


def json_problem(error: ValueError) -> str:
    """What is wrong with a text that is no JSON, after the place: ``line 3, column 7: a comma is
    missing``. Of a text of one line the column alone.

    Args:
        error: of a JSON parser (`json`, orjson).
    """
    if not isinstance(error, JSONDecodeError):
        return encoding_problem(error) if isinstance(error, UnicodeDecodeError) else str(error)
    text = error.doc.rstrip()
    if not text:
        return "it is empty"
    line, column = error.lineno, error.colno
    problem = json_words(error.msg)
    if error.pos >= len(text):
        problem = "it ends in the middle of a value"
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n") - 1
    where = f"line {line}, column {column}" if "\n" in text else f"column {column}"
    return f"{where}: {problem}"


def encoding_problem(error: UnicodeDecodeError) -> str:
    """What is wrong with bytes that are no text: the first one that is not."""
    byte = error.object[error.start]
    name = error.encoding.upper().replace("_", "-")
    return f"it is not text in {name}: byte {error.start + 1:,} is 0x{byte:02x}"


_SYSTEM_PROBLEMS = {
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a part of its path is a file and no folder",
    errno.EACCES: "the permission is missing",
    errno.ENOSPC: "the disk is full",
    errno.EROFS: "the disk is read-only",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ECONNREFUSED: "nothing listens there (connection refused)",
    errno.ECONNRESET: "the other side closed the connection",
}


_NUMBER = re.compile(r"\[Errno (-?\d+)\] ")


def system_problem(error: OSError | UnicodeDecodeError) -> str:
    """Why a file or a connection cannot be used, without numbers of the operating system.

    Args:
        error: of the operating system, or of bytes that are no text.
    """
    if isinstance(error, UnicodeDecodeError):
        return encoding_problem(error)
    problem = error.strerror or str(error) or type(error).__name__
    # Of several addresses of one host the errors stand in one text.
    numbers = {error.errno} if error.errno else {int(n) for n in _NUMBER.findall(problem)}
    if len(numbers) == 1 and (number := numbers.pop()) in _SYSTEM_PROBLEMS:
        return _SYSTEM_PROBLEMS[number]
    return _NUMBER.sub("", problem)
