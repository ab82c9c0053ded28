"""Paths into JSON: ``choices[0].message.content``, ``results[*].text``.

A path is keys and indices. ``[*]`` takes every item of a list, ``.`` is the value itself, and a
``?`` at the end says that there may be nothing. This is what mapping files need of JSONPath.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragassay.counts import plural

NOTHING: Any = object()
"""What an optional path gives where there is nothing."""

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")
_MOST_KEYS = 8


class PathError(LookupError):
    """A path leads to nothing; the message says how far it leads."""


@dataclass(frozen=True)
class JsonPath:
    """A path.

    Attributes:
        text: as written.
        steps: keys and indices; ``*`` for every item.
        optional: whether there may be nothing.
    """

    text: str
    steps: tuple[str | int, ...]
    optional: bool

    @classmethod
    def parse(cls, text: str) -> JsonPath:
        """The path that a text writes.

        Raises:
            ValueError: it writes none.
        """
        bare = text.strip().removesuffix("?").removeprefix("$")
        steps: list[str | int] = []
        at = 0
        while at < len(bare) and bare != ".":
            step = _STEP.match(bare, at)
            if step is None:
                raise ValueError(f"{text!r} is no path: write it like choices[0].message.content")
            key, index = step.groups()
            steps.append(key if index is None else index if index == "*" else int(index))
            at = step.end()
        if not bare and text.strip() not in ("$", "$?"):
            raise ValueError("a path is empty: write a key, or . for the whole value")
        return cls(text, tuple(steps), text.strip().endswith("?"))

    def find(self, value: Any) -> Any:
        """What the path leads to: a list where it has ``[*]``.

        Returns:
            `NOTHING` where there is nothing and the path is optional.

        Raises:
            PathError: there is nothing.
        """
        try:
            if "*" in self.steps:
                return list(_each(value, self.steps))
            (found,) = _each(value, self.steps)
            return found
        except PathError:
            if self.optional:
                return NOTHING
            raise


def _each(value: Any, steps: tuple[str | int, ...]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step == "*":
        if not isinstance(value, list):
            raise PathError(f"{_kind(value)} stands where '[*]' expects a list")
        for item in value:
            yield from _each(item, rest)
    elif isinstance(step, int):
        if not isinstance(value, list) or step >= len(value):
            raise PathError(f"{_kind(value)} has no item [{step}]")
        yield from _each(value[step], rest)
    else:
        if not isinstance(value, dict) or step not in value:
            raise PathError(f"{_kind(value)} has no key '{step}'")
        yield from _each(value[step], rest)


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        names = ", ".join(list(map(str, value))[:_MOST_KEYS])
        return f"an object with the keys {names}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {plural(len(value), 'item')}"
    return "null" if value is None else f"the value {str(value)[:40]!r}"
