"""The texts of a report's samples, and which samples hold given words.

A search reads the texts from the first to the last, some megabytes at a time: it finds words within
words as the HTML report does, and takes no memory to speak of. A long text stands there once,
however many samples have it (a passage, an explanation).
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TEXTS, PLACES = "texts", "places.npz"
"""Of a view's folder: the texts, one after the other, in small letters and UTF-8; and where each
begins, and which rows have it."""

LONG = 48
"""Characters from which on a text is stored once; the shorter ones of a sample are one text."""

BLOCK = 8_000_000
"""Bytes that are read at a time, or those of one text where it has more."""

_END = b"\x00"


def write_texts(folder: Path, samples: Iterable[Iterable[str]]) -> None:
    """Writes the files that `rows_with` reads.

    Args:
        folder: of the view.
        samples: the texts of each sample, in the order of its rows.
    """
    numbers: dict[bytes, int] = {}
    places, held, rows = array("q", [0]), array("i"), array("i")
    with (folder / TEXTS).open("wb") as stream:

        def add(text: str) -> int:
            body = text.lower().encode("utf-8", "replace")
            places.append(places[-1] + stream.write(body + _END))
            return len(places) - 2

        for row, texts in enumerate(samples):
            short: list[str] = []
            long: dict[int, None] = {}
            for text in texts:
                if len(text) < LONG:
                    short.append(text)
                    continue
                key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
                if key not in numbers:
                    numbers[key] = add(text)
                long[numbers[key]] = None
            for number in (add("\n".join(short)), *long):
                held.append(number)
                rows.append(row)
    np.savez(folder / PLACES, places=np.asarray(places), texts=held, rows=rows)


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


def rows_with(folder: Path, words: Sequence[str]) -> list[int]:
    """The rows that hold each of some words, upper and lower case alike, in their order.

    Args:
        folder: of the view.
        words: that a row holds anywhere, also within other words.
    """
    with np.load(folder / PLACES) as held:
        places, texts, rows = held["places"].tolist(), held["texts"], held["rows"]
    wanted = [word.lower().encode("utf-8", "replace") for word in words]
    hits = np.zeros((len(wanted), len(places) - 1), dtype=np.bool_)
    with (folder / TEXTS).open("rb") as stream:
        first = 0
        while first < len(places) - 1:
            end = max(bisect_right(places, places[first] + BLOCK) - 1, first + 1)
            block = stream.read(places[end] - places[first])
            for word, hit in zip(wanted, hits, strict=True):
                hit[_holding(block, places, first, word)] = True
            first = end
    matches = np.unique(rows)
    for hit in hits:
        matches = np.intersect1d(matches, rows[hit[texts]])
    numbers: list[int] = matches.tolist()
    return numbers


def _holding(block: bytes, places: Sequence[int], first: int, word: bytes) -> list[int]:
    """The texts of a block that hold a word; ``first`` is the number of its first text."""
    numbers = []
    number, begin = first, places[first]
    at = block.find(word)
    while at >= 0:
        number = bisect_right(places, begin + at, number) - 1
        numbers.append(number)
        at = block.find(word, places[number + 1] - begin)
    return numbers
