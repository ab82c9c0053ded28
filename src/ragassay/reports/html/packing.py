"""Data within a page, in little space: JSON, deflated, in base64; each long text once.

A page of thousands of queries repeats itself: runs that are compared share queries and references,
samples share passages. A browser unpacks a piece when it needs it (``pack.js``).
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragassay.base.strict_json import dumps

POOLED, AT_ONCE = 1_000, 1_000_000
"""Texts of the pool, and their characters, that make a batch, which is packed as one: many, because
texts repeat parts of others, and not all, because a browser unpacks a batch to show one row."""

LONG = 48
"""Characters from which on a text goes into the pool."""

MARK = "\x00"
"""The beginning of a reference to a text of the pool: the mark, then the text's number."""


def packed(value: Any) -> str:
    """A value as base64 of its deflated JSON (no zlib header). It holds no markup."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(deflate.compress(dumps(value)) + deflate.flush()).decode()


def in_columns(samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Samples by entry: for each entry the list of the samples' values (``None`` where a sample has
    none), and the scores by metric in the same way. Similar values follow each
    other, which deflates better.
    """
    plain = [{name: v for name, v in one.items() if name != "scores"} for one in samples]
    scores = _columns([one.get("scores", {}) for one in samples])
    return {**_columns(plain), "scores": scores}


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


class TextPool:
    """The long texts of a page, each once. Only what is not drained yet is held in memory."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._waiting: list[str] = []
        self._length = 0
        self.starts: list[int] = []
        """The number of the first text of each batch that was drained."""

    def take(self, value: Any) -> Any:
        """The value with each long text replaced by its number, in mappings and lists, too."""
        if isinstance(value, str):
            if len(value) < LONG and not value.startswith(MARK):
                return value
            key = hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=16).digest()
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                self._waiting.append(value)
                self._length += len(value)
            return f"{MARK}{self._numbers[key]}"
        if isinstance(value, dict):
            return {name: self.take(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.take(one) for one in value]
        return value

    def drain(self, *, end: bool = False) -> Iterator[tuple[str, str]]:
        """Element id and content of the texts at hand, where they are enough for a batch.

        Args:
            end: whether to drain also less than a batch.
        """
        enough = len(self._waiting) >= POOLED or self._length >= AT_ONCE
        if enough or (end and self._waiting):
            yield f"t-{len(self.starts)}", packed(self._waiting)
            self.starts.append(len(self._numbers) - len(self._waiting))
            self._waiting, self._length = [], 0
