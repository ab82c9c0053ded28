"""What is wrong with data, and what is worth knowing about it: kinds, whose words are in
``format_words.yaml``; and how words name the options that mend a record."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any

from ragassay.base import packages
from ragassay.base.errors import InputError, called, warn_user

BY_FLAGS: ContextVar[bool] = ContextVar("by_flags", default=False)
"""Whether messages name flags alone: on the command line, where no keyword can be given."""


@cache
def _section(name: str) -> dict[str, Any]:
    return dict(packages.table("ragassay.formats", "format_words.yaml")[name])


def wrong(kind: str, /, **facts: Any) -> InputError:
    """The error of a kind (``errors`` in ``format_words.yaml``), with what its sentences show, and
    its place as far as the caller knows it (``path``, ``line``, ``field``)."""
    sentences = _section("errors")[kind]
    problem, hint = (sentences, "") if isinstance(sentences, str) else sentences
    place = {name: facts.get(name) for name in ("path", "line", "field")}
    return InputError(problem.format_map(facts), hint=hint.format_map(facts) or None, **place)


def unexpected(value: Any, wanted: str, field: str | None = None) -> InputError:
    """The error for a value of another kind than is ``wanted`` (with its article; ``wanted`` in
    ``format_words.yaml`` has what to do)."""
    hints = _section("wanted")
    hint = hints.get(wanted) or (hints["a list"] if wanted.startswith("a list of ") else None)
    return InputError(f"{kind(value)} was given where {wanted} is expected", field=field, hint=hint)


def kind(value: Any) -> str:
    """A value's kind in words, for errors."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the flag {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"


class Notes:
    """Remarks made while reading.

    Each kind of remark is one line, with its number and its first place. Iterating gives the lines;
    they stay few however large the file is.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[int, int | None]] = {}

    def tell(self, kind: str, line: int | None = None, /, *, count: int = 1, **facts: Any) -> None:
        """Counts a remark of a kind that ``notes`` in ``format_words.yaml`` has.

        Args:
            kind: of the remark.
            line: 1-based line (or record) number.
            count: how often it occurs.
            facts: what its sentences show.
        """
        fact, consequence = (one.format_map(facts) for one in _section("notes")[kind])
        before, first = self._seen.get((fact, consequence), (0, line))
        self._seen[fact, consequence] = (before + count, first)

    def __iter__(self) -> Iterator[str]:
        for (fact, consequence), (count, first) in self._seen.items():
            where = f" (first: line {first})" if first is not None else ""
            yield f"{fact}: {count}{where}. {consequence}"

    def warn(self, about: object) -> None:
        """Issues every line as a `RagassayWarning`, for callers that gave no notes of their own."""
        for line in self:
            warn_user(f"{called(about)}: {line}")


class OptionWords:
    """Words for who reads a file by the command line or from Python. Who sets these options
    elsewhere derives words of their own."""

    def columns(self, field: str, column: str) -> str:
        """What says that a column of the file holds a field of ours."""
        flag = f"--columns {field}={shlex.quote(column)}"
        if BY_FLAGS.get():
            return flag
        return f"columns={{{field!r}: {column!r}}}, on the command line {flag}"

    def separator(self, mark: str) -> str:
        """What names the text between the chunks of a context, which seems to be ``mark``."""
        keyword = "" if BY_FLAGS.get() else " (separator=...)"
        return f"Name what separates the chunks, --separator '{mark}'{keyword}"

    def single_chunk(self) -> str:
        """What says that each context is one chunk."""
        keyword = "" if BY_FLAGS.get() else " (single_chunk=True)"
        return f"say that each context is one chunk, --single-chunk{keyword}"
