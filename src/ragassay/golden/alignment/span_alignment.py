"""Finds where an edited span begins and ends, near the place where it is known to stand.

The words of the span are aligned with those of the document, by insertions and deletions alone.
What was inserted before the first word that is still there, or after the last one, is not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

from ragassay.texts.languages import CHARACTERS
from ragassay.texts.sentence_cutting import ends_sentence

_TOKEN = re.compile(rf"[{CHARACTERS}]|[^\W{CHARACTERS}]+|[^\w\s]")
_KNOWN = 3
"""Words that tell the first or last place of a span."""
_BESIDE = 10
"""Characters beside a span that tell where it begins or ends."""
_LONG = 1000
"""Words of a span whose middle is aligned by another way, which takes less memory."""
_END = 300
"""Words at each end of such a span that are aligned like a short one."""


class _Token(NamedTuple):
    word: str
    start: int
    end: int


def aligned(
    old: str, before: str, after: str, text: str, start: int, end: int
) -> tuple[int, int] | None:
    """Where the words of a span begin and end.

    Returns:
        The first character and the one after the last; ``None`` where no word is there any more.
    """
    ours, theirs = _tokens(old, 0, len(old)), _tokens(text, start, end)
    pairs = _pairs([one.word for one in ours], [one.word for one in theirs])
    # A full stop alone may stand anywhere.
    words = [pair for pair in pairs if ours[pair[0]].word[0].isalnum()]
    if not words:
        return None
    first = pairs[0] if pairs[0][0] == 0 else words[0]
    last = pairs[-1] if pairs[-1][0] == len(ours) - 1 else words[-1]
    begin = theirs[first[1]].start
    stop = theirs[last[1]].end
    if first[0] > 0:
        begin = _earlier(ours[: first[0]], before, text, theirs, first[1])
    if last[0] < len(ours) - 1:
        stop = _later(ours[last[0] + 1 :], after, text, theirs, last[1])
    return _with_spaces(old, text, begin, stop)


class AlikePart(NamedTuple):
    """A part of a text that is like another text, and the text around it, ``begin`` to ``stop``, in
    which it is the part that is most alike."""

    start: int
    end: int
    begin: int
    stop: int


def alike_parts(
    wanted: str, text: str, least: float, cutoff: float, most: int
) -> Iterator[AlikePart]:
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
            yield AlikePart(start, end, begin, stop)
            sides += [(begin, start), (end, stop)]


def occurrences(text: str, wanted: str) -> Iterator[int]:
    """The places where a text stands in another one."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    return [_Token(one[0].casefold(), *one.span()) for one in _TOKEN.finditer(text, start, end)]


def _pairs(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    if len(ours) <= _LONG:
        return _cheapest(ours, theirs)
    common = [
        (block.a + at, block.b + at)
        for block in LCSseq.editops(ours, theirs).as_matching_blocks()
        for at in range(block.size)
    ]
    middle = [pair for pair in common if _END <= pair[0] < len(ours) - _END]
    if not middle:
        return common
    (i, j), (last_i, last_j) = middle[0], middle[-1]
    tail = _cheapest(ours[last_i + 1 :], theirs[last_j + 1 :])
    return [
        *_cheapest(ours[:i], theirs[:j]),
        *middle,
        *((last_i + 1 + one, last_j + 1 + other) for one, other in tail),
    ]


def _cheapest(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """The equal words of a sequence and of the part of another one that costs the fewest deleted
    and inserted characters; of equal costs the nearest words."""
    if not ours or not theirs:
        return []
    numbers = {word: number for number, word in enumerate(dict.fromkeys((*ours, *theirs)))}
    codes = np.array([numbers[word] for word in theirs])
    sizes = np.array([0, *map(len, theirs)], dtype=np.int32)
    inserted = np.cumsum(sizes, dtype=np.int32)
    rows = np.zeros((len(ours) + 1, len(theirs) + 1), dtype=np.int32)
    for at, word in enumerate(ours):
        row = rows[at] + len(word)
        equal = codes == numbers[word]
        row[1:][equal] = np.minimum(row[1:][equal], rows[at][:-1][equal])
        rows[at + 1] = np.minimum.accumulate(row - inserted) + inserted
    pairs: list[tuple[int, int]] = []
    i, j = len(ours), int(np.argmin(rows[-1]))
    while i and j:
        if ours[i - 1] == theirs[j - 1] and rows[i, j] == rows[i - 1, j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif rows[i, j] == rows[i, j - 1] + sizes[j]:
            j -= 1
        else:
            i -= 1
    return pairs[::-1]


def _earlier(
    head: Sequence[_Token], before: str, text: str, theirs: Sequence[_Token], first: int
) -> int:
    """The place where a span begins whose first words are not those at the aligned place."""
    at = first
    while at > 0 and not _is_start(text[max(0, theirs[at].start - 8) : theirs[at].start]):
        at -= 1
    words = [one.word for one in theirs[at:first]]
    wanted = [one.word for one in head]
    for n in range(min(_KNOWN, len(wanted)), 0, -1):
        if places := _places(words, wanted[:n]):
            return theirs[at + places[-1]].start
    preceding = [one.word for one in _tokens(before, 0, len(before))][-_KNOWN:]
    beside = before.rstrip()[-_BESIDE:]
    follows = beside and text[: theirs[0].start].rstrip().endswith(beside)
    if _is_start(before) or (at == 0 and follows):
        return theirs[at].start
    if preceding and (places := _places(words, preceding)):
        return theirs[min(at + places[-1] + len(preceding), first)].start
    return theirs[first].start


def _later(
    tail: Sequence[_Token], after: str, text: str, theirs: Sequence[_Token], last: int
) -> int:
    """The place where a span ends whose last words are not those at the aligned place."""
    at = last
    for one, next_one in pairwise(theirs[last:]):  # to the end of the sentence or line
        here = text[one.start : next_one.start]
        if "\n" in here or ends_sentence(here):
            break
        at += 1
    words = [one.word for one in theirs[last + 1 : at + 1]]
    wanted = [one.word for one in tail]
    for n in range(min(_KNOWN, len(wanted)), 0, -1):
        if places := _places(words, wanted[-n:]):
            return theirs[last + places[0] + n].end
    following = [one.word for one in _tokens(after, 0, len(after))][:_KNOWN]
    if following and (places := _places(words, following)):
        return theirs[last + places[0]].end
    beside = after.lstrip()
    is_line = "\n" in after[: len(after) - len(beside)]
    precedes = beside and text[theirs[at].end :].lstrip().startswith(beside[:_BESIDE])
    is_end = is_line or (at == len(theirs) - 1 and precedes)
    if not following or is_end or ends_sentence(f"{tail[-1].word} "):
        return theirs[at].end
    return theirs[last].end


def _places(words: Sequence[str], wanted: Sequence[str]) -> list[int]:
    ends = range(len(wanted), len(words) + 1)
    return [end - len(wanted) for end in ends if words[end - len(wanted) : end] == wanted]


def _is_start(before: str) -> bool:
    bare = before.rstrip()
    if not bare or "\n" in before[len(bare) :]:
        return True
    return ends_sentence(before)


def _with_spaces(old: str, text: str, begin: int, stop: int) -> tuple[int, int]:
    """The place with the white space that the span had at its ends, where it is there."""
    head = old[: len(old) - len(old.lstrip())]
    tail = old[len(old.rstrip()) :]
    while head and text[max(0, begin - len(head)) : begin] != head:
        head = head[1:]
    while tail and not text.startswith(tail, stop):
        tail = tail[:-1]
    return begin - len(head), stop + len(tail)
