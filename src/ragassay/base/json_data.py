"""JSON: paths into it, and strict writing of whatever a score or a sample may hold.

Mapping files and ``columns`` have paths: ``choices[0].message.content``. ``[*]`` takes every item
of a list, ``[-1]`` the last one, ``["a.b"]`` a key that holds a dot; ``.`` is the value itself; a
``?`` at the end says that there may be nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from ragassay.base.printable import plural

NOTHING: Any = object()  # what an optional path gives where there is nothing
EVERY = -(1 << 62)  # the step that takes every item of a list; a key may be called ``*``

_STEP = re.compile(r"""\.?([^.\[\]]+)|\[(-?\d+|\*)\]|\[(?:'([^']+)'|"([^"]+)")\]""")
_MOST_KEYS = 8
_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


class PathError(LookupError):
    """A path leads to nothing; the message says how far it leads."""


@dataclass(frozen=True)
class JsonPath:
    """A path: its ``text`` as written, its ``steps`` (keys, indices, `EVERY` for every item), and
    whether there may be nothing."""

    text: str
    steps: tuple[str | int, ...]
    optional: bool

    @classmethod
    @lru_cache(maxsize=1024)
    def parse(cls, text: str) -> JsonPath:
        """The path that a text writes."""
        bare = text.strip().removesuffix("?").removeprefix("$")
        steps: list[str | int] = []
        at = 0
        while at < len(bare) and bare != ".":
            step = _STEP.match(bare, at)
            if step is None:
                raise ValueError(f"{text!r} is not a path like choices[0].message.content")
            index = step[2]
            key = step[1] or step[3] or step[4]
            steps.append(EVERY if index == "*" else int(index) if index else key)
            at = step.end()
        if not bare and text.strip() not in ("$", "$?"):
            raise ValueError("a path is empty: write a key, or . for the whole value")
        return cls(text, tuple(steps), text.strip().endswith("?"))

    def find(self, value: Any, unpack: Callable[[Any], Any] = lambda value: value) -> Any:
        """What the path leads to: a list where it has ``[*]``; `NOTHING` or a `PathError` where
        there is nothing. ``unpack`` makes an object or list of a text that holds one."""
        try:
            if EVERY in self.steps:
                return list(_each(value, self.steps, unpack))
            (value,) = _each(value, self.steps, unpack)
            return value
        except PathError:
            if self.optional:
                return NOTHING
            raise

    def reach(self, value: Any, unpack: Callable[[Any], Any] = lambda value: value) -> Any:
        """As `find`, but `NOTHING` wherever there is nothing."""
        first = self.steps[0] if self.steps else EVERY
        if first != EVERY and isinstance(value, dict) and first not in value:
            return NOTHING  # the usual case, without an error
        try:
            return self.find(value, unpack)
        except PathError:
            return NOTHING


def _each(value: Any, steps: tuple[str | int, ...], unpack: Callable[[Any], Any]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    step, rest, value = steps[0], steps[1:], unpack(value)
    if step == EVERY:
        if not isinstance(value, list):
            raise PathError(f"{_kind(value)} was given where '[*]' expects a list")
        for item in value:
            yield from _each(item, rest, unpack)
    elif isinstance(step, int):
        if not isinstance(value, list) or not -len(value) <= step < len(value):
            raise PathError(f"{_kind(value)} has no item [{step}]")
        yield from _each(value[step], rest, unpack)
    else:
        if not isinstance(value, dict) or step not in value:
            raise PathError(f"{_kind(value)} has no key '{step}'")
        yield from _each(value[step], rest, unpack)


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        names = ", ".join(list(map(str, value))[:_MOST_KEYS])
        return f"an object with the keys {names}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {plural(len(value), 'item')}"
    return "null" if value is None else f"the value {str(value)[:40]!r}"


def dumps(value: Any, *, indent: bool = False) -> bytes:
    """JSON that every reader takes: UTF-8, no NaN, no lone surrogates; dates as texts."""
    option = _OPTIONS | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(value, default=str, option=option)
    except TypeError:
        return orjson.dumps(_clean(value), default=str, option=option)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
