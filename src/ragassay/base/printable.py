"""Text for people: counts with their nouns, long lists cut short; and text from data, models and
file names made safe to print on a terminal, without control characters and characters that turn the
direction of text, but for line breaks and tabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

FEW = 5
"""Names of a long list that are shown."""


def plural(n: int, noun: str) -> str:
    """``1 query``, ``2 queries``, ``2 ways``."""
    several = noun[:-1] + "ies" if re.search("[^aeiou]y$", noun) else noun + "s"
    return f"{n:,} {noun if n == 1 else several}"


def share(n: int, total: int, noun: str) -> str:
    """``1 of 3 queries``, ``1 of 1 query``."""
    return f"{n:,} of {plural(total, noun)}"


def few(names: Sequence[str], most: int = FEW) -> str:
    """The first names of a list, and how many more there are: ``a, b, c, d, e and 3 more``."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def either(n: int, text: str, several: str) -> str:
    """The words that go with a count: ``either(n, "has", "have")``."""
    return text if n == 1 else several


def dollars(value: float) -> str:
    """``$0.12``, ``$1,250.00``, ``<$0.01``."""
    return "<$0.01" if 0 < value < 0.01 else f"${value:,.2f}"


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, both in the order in which they come."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


# Not the marks U+200E and U+200F: text from right to left needs them, and they turn no other text.
_TURNS = r"\u202a-\u202e\u2066-\u2069"

_CONTROL = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{_TURNS}\ud800-\udfff]")
_COMMAND = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_TURNS}\ud800-\udfff]")
_COMMAND_BUT_RETURN = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_TURNS}]")
_COMMAND_IN_JSON = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])")


def one_line(text: str) -> str:
    """Text with control characters (line breaks, terminal escapes) shown as spaces or marks."""
    return _CONTROL.sub(lambda match: " " if match[0] in "\t\n\r\u2028\u2029" else "�", text)


def excerpt(text: str, most: int) -> str:
    """The first ``most`` characters of a text in one line, with a mark where it goes on."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} …"


def lines(text: str) -> str:
    """Text whose line breaks and tabs stay, and whose other control characters become marks."""
    return _COMMAND.sub("�", text)


def escaped(text: str) -> str:
    """Text of a file that is read as it is (CSV, HTML): line ends and tabs stay, other control
    characters are written as ``\\u001b``, which in JSON means the same."""
    return _COMMAND_BUT_RETURN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def in_json(body: bytes) -> bytes:
    """The same JSON with those control characters written as escapes that JSON allows."""
    return _COMMAND_IN_JSON.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), body)
