"""The lists of words and phrases in ``data``: one kind a file, read once.

A line that begins with ``#`` is a comment. In lists of patterns a line ``name = pattern`` defines
``{name}`` for the lines after it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_DEFINITION = re.compile(r"([a-z]+) = (.*)")
_USE = re.compile(r"\{([a-z]+)\}")


@cache
def words(name: str) -> frozenset[str]:
    """The words of ``data/NAME.txt``."""
    return frozenset(word for line in _lines(name) for word in line.split())


@cache
def patterns(name: str, flags: int = 0) -> re.Pattern[str]:
    """Matches what any line of ``data/NAME.txt`` matches, upper and lower case alike."""
    return re.compile("|".join(_expanded(name)[1]), re.IGNORECASE | flags)


@cache
def _expanded(name: str) -> tuple[dict[str, str], list[str]]:
    defined: dict[str, str] = {}
    found: list[str] = []
    for line in _lines(name):
        line = _USE.sub(lambda use: defined[use.group(1)], line)
        begins = _DEFINITION.fullmatch(line)
        if begins:
            defined[begins.group(1)] = begins.group(2)
        else:
            found.append(line)
    return defined, found


def _lines(name: str) -> list[str]:
    source = resources.files("ragassay.judges.offline") / "data" / f"{name}.txt"
    text = source.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
