"""The lists of words and phrases in ``data``: one kind a file, read once.

A line that begins with ``#`` is a comment. In lists of patterns a line ``name = pattern`` defines
``{name}`` for the lines after it, and a line ``needs: one | other`` says that the patterns after it
are tried only on texts that hold one of these.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_DEFINITION = re.compile(r"([a-z]+) = (.*)")
_NEEDS = re.compile(r"needs: (.*)")
_USE = re.compile(r"\{([a-z]+)\}")


@cache
def words(name: str) -> frozenset[str]:
    """The words of ``data/NAME.txt``."""
    return frozenset(word for line in _lines(name) for word in line.split())


class Phrases:
    """The patterns of a list, as one; upper and lower case are alike.

    A pattern that needs a word is tried only on texts with this word: most texts have none, and a
    search for a plain word takes a hundredth of the time.
    """

    def __init__(self, name: str, flags: int = 0) -> None:
        free, bound = _expanded(name)
        self._free = _joined(free, flags)
        self._bound = [(words, _joined(lines, flags)) for words, lines in bound.items()]
        self.pattern = "|".join([*free, *(one for lines in bound.values() for one in lines)])

    def search(self, text: str) -> re.Match[str] | None:
        """The first match, as `re.Pattern.search` finds it."""
        folded = text.casefold()
        matches = [self._free.search(text) if self._free else None]
        for words, pattern in self._bound:
            if pattern is not None and any(word in folded for word in words):
                matches.append(pattern.search(text))
        return min(filter(None, matches), key=lambda match: match.start(), default=None)


def _joined(lines: list[str], flags: int) -> re.Pattern[str] | None:
    return re.compile("|".join(lines), re.IGNORECASE | flags) if lines else None


@cache
def patterns(name: str) -> re.Pattern[str]:
    """A pattern for what any line of ``data/NAME.txt`` matches, in upper and lower case."""
    return re.compile(Phrases(name).pattern, re.IGNORECASE)


@cache
def _expanded(name: str) -> tuple[list[str], dict[tuple[str, ...], list[str]]]:
    """Patterns that are always tried, and those that need one of some words."""
    defined: dict[str, str] = {}
    free: list[str] = []
    bound: dict[tuple[str, ...], list[str]] = {}
    current = free
    for line in _lines(name):
        needs = _NEEDS.fullmatch(line)
        if needs:
            current = bound.setdefault(tuple(needs.group(1).split(" | ")), [])
            continue
        line = _USE.sub(lambda use: defined[use.group(1)], line)
        begins = _DEFINITION.fullmatch(line)
        if begins:
            defined[begins.group(1)] = begins.group(2)
        else:
            current.append(line)
    return free, bound


def _lines(name: str) -> list[str]:
    source = resources.files("ragassay.judges.offline") / "data" / f"{name}.txt"
    text = source.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@cache
def groups(name: str) -> tuple[tuple[str, ...], ...]:
    """The words of each line of ``data/NAME.txt``, in their order."""
    return tuple(tuple(line.split()) for line in _lines(name))
