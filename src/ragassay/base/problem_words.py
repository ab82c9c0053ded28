"""What is wrong with data, in words: of pydantic, of JSON parsers, of the operating system."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi.exceptions import RequestValidationError
    from pydantic import ValidationError

_SHOWN = 60  # longest piece of a wrong value in a message
_KEY_LIKE = re.compile(r"(?<![\w./-])[A-Za-z0-9_-]{24,}(?![\w./-])")  # perhaps a secret

_OUR_WORDS = {
    "missing": "is missing",
    "missing_argument": "is missing",
    "missing_keyword_only_argument": "is missing",
    "extra_forbidden": "is not a key that is known",
    "unexpected_keyword_argument": "is not a key that is known",
}
"""Mistakes whose words would speak of arguments and inputs."""

_WITHOUT_VALUE = {*_OUR_WORDS, "value_error", "assertion_error", "json_invalid", "too_short",
                  "too_long", "string_too_short", "string_too_long"}  # fmt: skip
"""Mistakes of which the wrong value says nothing, or whose sentence shows it."""

_OF_A_UNION = re.compile(r"(str|int|float|bool|list|dict|tuple|set|none|[a-z-]+\[.*\])")
"""How pydantic names a choice of a union in a place."""


def shown_value(value: object) -> str:
    """A wrong value as messages show it: not all of a long one, and nothing like a key."""
    text = _KEY_LIKE.sub("...", repr(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def mistakes(error: ValidationError | RequestValidationError) -> list[tuple[tuple[str, ...], str]]:
    """The mistakes that a validation found: of each the place (keys and numbers of items; empty for
    the whole value) and what is wrong there (``must be a whole number, not 'x'``)."""
    by_place: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for one in error.errors():
        place = tuple(str(piece) for piece in one["loc"] if piece != "[key]")
        if place and _OF_A_UNION.fullmatch(place[-1]):
            place = place[:-1]
        by_place.setdefault(place, []).append(one)
    return [(place, _mistake(several)) for place, several in by_place.items()]


def mistake(error: ValidationError) -> tuple[str | None, str]:
    """The first mistake that a validation found."""
    place, problem = mistakes(error)[0]
    return ".".join(place) or None, problem


def validation_problem(error: ValidationError) -> str:
    """The first mistake that a validation found as ``field: what is wrong``."""
    field, problem = mistake(error)
    return problem if field is None else f"{field}: {problem}"


def _mistake(several: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong, in the library's words: of a choice of types, each that it may have."""
    first = several[0]
    problem = " or ".join(dict.fromkeys(map(_own_words, several)))
    problem = problem.replace(" or must be ", " or ")
    if first["type"] in _WITHOUT_VALUE:
        return problem
    return f"{problem}, not {shown_value(first['input'])}"


def _own_words(one: Mapping[str, Any]) -> str:
    words = re.sub(
        r"^(Value|Assertion) error, | after validation| or instance of \w+", "", str(one["msg"])
    )
    words = re.sub(r"^Input should be ", "must be ", words).rstrip(".")
    words = words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"
    return _OUR_WORDS.get(str(one["type"]), words)


def json_problem(error: ValueError) -> str:
    """What is wrong with a text that is no JSON, after the place: ``line 3, column 7: a comma is
    missing``. Of a text of one line the column alone."""
    if not isinstance(error, JSONDecodeError):
        return encoding_problem(error) if isinstance(error, UnicodeDecodeError) else str(error)
    text = error.doc.rstrip()
    if not text:
        return "it is empty"
    line, column = error.lineno, error.colno
    problem = error.msg[:1].lower() + error.msg[1:]
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


_NUMBER = re.compile(r"\[Errno (-?\d+)\] ")


def system_problem(error: OSError | UnicodeDecodeError) -> str:
    """Why a file or a connection cannot be used, without numbers of the operating system."""
    if isinstance(error, UnicodeDecodeError):
        return encoding_problem(error)
    return _NUMBER.sub("", error.strerror or str(error) or type(error).__name__)
