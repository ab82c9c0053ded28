"""Finds where an edited span begins and ends, near the place where it is known to stand.

The words of the span and of what stood around it are aligned with those of the document, by
insertions and deletions alone. What was inserted before the first word that is still there, or
after the last one, is not in it; what took the place of its first or last words is, within their
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

from ragassay.texts.languages import CHARACTERS
from ragassay.texts.sentence_cutting import ends_sentence

_TOKEN = re.compile(rf"[{CHARACTERS}]|[^\W{CHARACTERS}]+|[^\w\s]")
_LONG = 1000
"""Words of a span from which on it is aligned by another way, which takes less memory."""

_COST = 10
"""Of a character that is deleted or inserted."""


class _Token(NamedTuple):
    word: str
    start: int
    end: int


def aligned(
    old: str, before: str, after: str, text: str, start: int, end: int
) -> tuple[int, int] | None:
    """Where the words of a span begin and end.

    Args:
        start, end: the part of the text that the span and its surroundings stand in.

    Returns:
        The first character and the one after the last; ``None`` where no word is there any more.
    """
    head, ours, tail = (_tokens(one, 0, len(one)) for one in (before, old, after))
    theirs = _tokens(text, start, end)
    every = [one.word for one in (*head, *ours, *tail)]
    spans = range(len(head), len(head) + len(ours))
    pairs = _pairs(every, [one.word for one in theirs], (spans.start, spans.stop))
    # A full stop alone may stand anywhere.
    words = [pair for pair in pairs if pair[0] in spans and every[pair[0]][0].isalnum()]
    if not words:
        return None
    (first, begin), (last, stop) = words[0], words[-1]
    while first > spans[0] and begin > 0 and every[first - 1] == theirs[begin - 1].word:
        first, begin = first - 1, begin - 1
    while last < spans[-1] and theirs[stop + 1 :] and every[last + 1] == theirs[stop + 1].word:
        last, stop = last + 1, stop + 1
    if first > spans[0]:
        known = [theirs_at for at, theirs_at in pairs if at < spans[0]]
        least = known[-1] + 1 if known else 0
        place = begin
        while place > least and not _is_start(text[: theirs[place].start]):
            place -= 1
        # A span that began within a sentence still does, where what stood before it is not known.
        begin = place if (place == least and known) or _is_start(before) else begin
    if last < spans[-1]:
        known = [theirs_at for at, theirs_at in pairs if at > spans[-1]]
        most = known[0] - 1 if known else len(theirs) - 1
        place = stop
        while place < most and not _is_end(text[theirs[place].start : theirs[place + 1].start]):
            place += 1
        ended = _is_end(f"{ours[-1].word}{after[: len(after) - len(after.lstrip())] or ' '}")
        stop = place if (place == most and known) or ended or not tail else stop
    return _with_spaces(old, text, theirs[begin].start, theirs[stop].end)


def alike_parts(
    wanted: str, text: str, least: float, cutoff: float, most: int
) -> Iterator[tuple[int, int]]:
    """Parts of a text that are like another text: the best one, then the best on either side. At
    most ``most`` sides of ``least`` characters or more are looked at; ``cutoff``: how alike, 0 to
    100."""
    sides = [(0, len(text))]
    for _ in range(most):
        if not sides:
            return
        begin, stop = sides.pop(0)
        if stop - begin < least:
            continue
        best = fuzz.partial_ratio_alignment(wanted, text[begin:stop], score_cutoff=cutoff)
        if best is not None:
            start, end = begin + best.dest_start, begin + best.dest_end
            yield start, end
            sides += [(begin, start), (end, stop)]


def occurrences(text: str, wanted: str) -> Iterator[int]:
    """The places where a text stands in another one."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    return [_Token(one[0].casefold(), *one.span()) for one in _TOKEN.finditer(text, start, end)]


def _pairs(
    ours: Sequence[str], theirs: Sequence[str], ends: Container[int]
) -> list[tuple[int, int]]:
    if len(ours) <= _LONG:
        return _cheapest(ours, theirs, ends)
    return [
        (block.a + at, block.b + at)
        for block in LCSseq.editops(ours, theirs).as_matching_blocks()
        for at in range(block.size)
    ]


def _cheapest(
    ours: Sequence[str], theirs: Sequence[str], ends: Container[int]
) -> list[tuple[int, int]]:
    """The equal words of a sequence and of the part of another one that costs the fewest deleted
    and inserted characters; what is inserted at places of ``ends`` costs a little less."""
    if not theirs:
        return []
    numbers = {word: number for number, word in enumerate(dict.fromkeys((*ours, *theirs)))}
    codes = np.array([numbers[word] for word in theirs])
    sizes = np.array([0, *map(len, theirs)], dtype=np.int32)
    inserted = np.cumsum(sizes, dtype=np.int32)
    rows = np.zeros((len(ours) + 1, len(theirs) + 1), dtype=np.int32)
    for at, word in enumerate(ours):
        row = rows[at] + _COST * len(word)
        equal = codes == numbers[word]
        row[1:][equal] = np.minimum(row[1:][equal], rows[at][:-1][equal])
        costs = inserted * (_COST - 1 if at + 1 in ends else _COST)
        rows[at + 1] = np.minimum.accumulate(row - costs) + costs
    pairs: list[tuple[int, int]] = []
    i, j = len(ours), int(np.argmin(rows[-1]))
    while i and j:
        if ours[i - 1] == theirs[j - 1] and rows[i, j] == rows[i - 1, j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif rows[i, j] == rows[i, j - 1] + sizes[j] * (_COST - 1 if i in ends else _COST):
            j -= 1
        else:
            i -= 1
    return pairs[::-1]


def _is_start(before: str) -> bool:
    bare = before.rstrip()
    return not bare or "\n" in before[len(bare) :] or ends_sentence(before[-8:])


def _is_end(here: str) -> bool:
    """Whether a word, with what stands before the next one, ends a sentence or a line."""
    return "\n" in here or ends_sentence(here)


def _with_spaces(old: str, text: str, begin: int, stop: int) -> tuple[int, int]:
    """The place with the white space that the span had at its ends, where it is there."""
    head = old[: len(old) - len(old.lstrip())]
    tail = old[len(old.rstrip()) :]
    while head and text[max(0, begin - len(head)) : begin] != head:
        head = head[1:]
    while tail and not text.startswith(tail, stop):
        tail = tail[:-1]
    return begin - len(head), stop + len(tail)
