"""The texts of a report's samples in its index, and which samples hold a word.

A long text stands there once, however many samples have it (a passage, an explanation). A search
looks into each text: it finds words within words as the HTML report does.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

TABLES = "CREATE TABLE texts (body BLOB); CREATE TABLE holders (row, text)"
"""The texts in small letters and UTF-8, and the rows that have them."""

LONG = 48
"""Characters from which on a text is stored once; the shorter ones of a sample are one text."""


def write_texts(index: sqlite3.Connection, samples: Iterable[Iterable[str]]) -> None:
    """Writes the tables, of the texts of each sample in the order of its rows."""
    index.executescript(TABLES)
    numbers: dict[bytes, int] = {}

    def number_of(text: str) -> int:
        inserted = index.execute("INSERT INTO texts VALUES (?)", (_folded(text),))
        return int(inserted.lastrowid or 0)

    for row, texts in enumerate(samples):
        short: list[str] = []
        held: set[int] = set()
        for text in texts:
            if len(text) < LONG:
                short.append(text)
                continue
            key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
            if key not in numbers:
                numbers[key] = number_of(text)
            held.add(numbers[key])
        held.add(number_of("\n".join(short)))
        index.executemany("INSERT INTO holders VALUES (?, ?)", ((row, one) for one in held))


def rows_with(index: sqlite3.Connection, word: str) -> list[int]:
    """The rows that hold a word anywhere, also within other words, upper and lower case alike."""
    holding = "SELECT rowid FROM texts WHERE instr(body, ?)"
    rows = f"SELECT DISTINCT row FROM holders WHERE text IN ({holding}) ORDER BY row"
    return [row for (row,) in index.execute(rows, (_folded(word),))]


def _folded(text: str) -> bytes:
    return text.lower().encode("utf-8", "replace")


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a value of JSON, but the keys of its objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)
