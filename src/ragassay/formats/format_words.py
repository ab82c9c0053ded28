"""What is wrong with data, and what is worth knowing about it: kinds, whose words are in
``format_words.yaml``; and how words name the options that mend a record."""

from __future__ import annotations

import shlex
from contextvars import ContextVar
from functools import cache
from typing import Any

from ragassay.base import packages
from ragassay.base.errors import InputError

BY_FLAGS: ContextVar[bool] = ContextVar("by_flags", default=False)
"""Whether messages name flags alone: on the command line, where no keyword can be given."""


@cache
def words_of(name: str) -> dict[str, Any]:
    """The words of ``errors``, ``wanted`` or ``notes``, by kind."""
    return dict(packages.table("ragassay.formats", "format_words.yaml")[name])


def wrong(kind: str, /, **facts: Any) -> InputError:
    """The error of a kind (``errors`` in ``format_words.yaml``), with what its sentences show, and
    its place as far as the caller knows it (``path``, ``line``, ``field``)."""
    sentences = words_of("errors")[kind]
    problem, hint = (sentences, "") if isinstance(sentences, str) else sentences
    place = {name: facts.get(name) for name in ("path", "line", "field")}
    return InputError(problem.format_map(facts), hint=hint.format_map(facts) or None, **place)


def unexpected(value: Any, wanted: str, field: str | None = None) -> InputError:
    """The error for a value of another kind than is ``wanted`` (with its article; ``wanted`` in
    ``format_words.yaml`` has what to do)."""
    hints = words_of("wanted")
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


class OptionWords:
    """Words for readers of files. Who sets these options elsewhere derives words of their own."""

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
