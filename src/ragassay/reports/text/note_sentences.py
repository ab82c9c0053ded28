"""Notes in words: the one place where a fact becomes a sentence."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ragassay.base import package_files
from ragassay.base.counts import either, few, plural
from ragassay.base.note import Note
from ragassay.reports.text import wording


def said(note: Note) -> str:
    """The sentence of a note.

    Args:
        note: whose kind has words in ``note_words.yaml``.

    Raises:
        KeyError: a kind without words, or a count that they need and the note lacks.
    """
    return _Words().vformat(words()[note.kind], (), {**note.counts, "names": note.names})


def all_said(notes: Iterable[Note], *severities: str) -> list[str]:
    """The sentences of notes."""
    return [said(note) for note in notes if not severities or note.severity in severities]


@cache
def words() -> dict[str, str]:
    """The sentence of each kind of note."""
    read: dict[str, str] = package_files.table("ragassay.reports.text", "note_words.yaml")
    return {kind: text.strip() for kind, text in read.items()}


class _Words(string.Formatter):
    """Fills in numbers with their nouns, and lists of names."""

    def format_field(self, value: Any, format_spec: str) -> str:
        n = len(value) if _is_list(value) else value
        if "/" in format_spec:
            return either(n, *format_spec.split("/"))
        if format_spec == "%":
            return wording.percent(value)
        if format_spec:
            return plural(n, format_spec)
        if _is_list(value):
            return few(value)
        if isinstance(value, int):
            return f"{value:,}"
        return value if isinstance(value, str) else wording.number(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
