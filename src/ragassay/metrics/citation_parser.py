"""From an answer's text to statements with what each cites.

Three ways to cut, because the published ones differ:

===============  ==================================================================================
`parts`          the text up to the next citation is one part, as Open RAG Eval's page says; every
                 form of citation is understood (`ragassay.metrics.citation_marks`)
`sentences`      one statement a sentence, as TREC's assessors see it
`published_parts`  the parts as Open RAG Eval's loader really cuts them, to the letter
===============  ==================================================================================

A citation belongs to the text before it, or to the text behind it where a line begins with it. A
list of sources at the end of an answer cites nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ragassay.metrics.citable import Citable
from ragassay.metrics.citation_marks import Mark, marks
from ragassay.metrics.sentences import begins_sentence, sentence_spans
from ragassay.samples import Passage, Statement

_BULLET = re.compile(r"\s*(?:[-*•–+>]\s+|#+\s+|\d{1,3}[.)]\s+)?")
_TRAILING_BULLET = re.compile(r"\n\s*(?:[-*•–+>#]+|\d{1,3}[.)])\s*$")
_STRAY = " \t\r\n.,;:!?。…"
_HEADING = re.compile(
    r"[\s#>*_]*(?:sources?(?: used| cited)?|references?|citations?|bibliography|works cited"
    r"|footnotes?|quellen|fuentes|参考文献|来源)[\s*_]*(?P<colon>[:：]?)[\s*_]*(?P<rest>.*)",
    re.IGNORECASE,
)
_INLINE_LIST = re.compile(r"(?:^|(?<=[.!?\s]))(?:sources?|references?|citations?)\s*:\s*$", re.I)
_DEFINITION = re.compile(r"\s*(?:[-*•]\s*)?\[\^?[^\]\n]{1,60}\]:\s")
_ENTRY = re.compile(r"\s*(?:[-*•]|\(?\d{1,3}[.)\]]|\[|【|https?://|www\.)")
_SIGNS = re.compile(r"[\s.,;:&-]*(?:and[\s]*)?")


def parts(text: str, passages: Sequence[Passage] = ()) -> tuple[Statement, ...]:
    """The text up to each citation, with what is cited there; what follows the last one is a part
    that cites nothing.

    Args:
        text: an answer.
        passages: what was retrieved; its ids help to tell citations from other brackets.
    """
    laid_out = _layout(text, passages)
    edges = [0, *(placed.at for placed in laid_out.placed), len(laid_out.clean)]
    pieces = [_Piece(laid_out.clean[a:b], {}) for a, b in pairwise(edges)]
    for index, placed in enumerate(laid_out.placed):
        before, after = pieces[index], pieces[index + 1]
        target = after if placed.leads and _wordy(after.text) else _nearest(pieces, index, before)
        target.keys.update(dict.fromkeys(placed.keys))
    return _statements(pieces)


def sentences(text: str, passages: Sequence[Passage] = ()) -> tuple[Statement, ...]:
    """The sentences, each with what is cited in it, right behind it, or before it where its line
    begins with the citation."""
    laid_out = _layout(text, passages)
    spans = sentence_spans(laid_out.clean)
    pieces = [_Piece(laid_out.clean[a:b], {}) for a, b in spans]
    begins = [a for a, _ in spans]
    for placed in laid_out.placed:
        if not pieces:
            break
        index = bisect_right(begins, placed.at if placed.leads else placed.at - 1) - 1
        if placed.leads and (index < 0 or spans[index][1] <= placed.at):
            index += 1
        pieces[min(max(index, 0), len(pieces) - 1)].keys.update(dict.fromkeys(placed.keys))
    return _statements(pieces)


_SEVERAL = re.compile(r"\[\d+(?:,\s*\d+)+\]")
_COMMA = re.compile(r"\]\s*,\s*\[")
_BLOCK = re.compile(r"(?:\[\d+\])+")


def published_parts(text: str) -> tuple[Statement, ...]:
    """The parts as Open RAG Eval's loader cuts them.

    Only ``[1]``, ``[1, 2]``, ``[1][2]`` and ``[1], [2]`` are citations (a year in brackets too); of
    ``[1] [2]`` the second is lost, and so is one before all text. Parts keep the punctuation that
    they begin with. Keys keep their brackets, as its passage ids do.
    """
    text = _SEVERAL.sub(
        lambda found: "".join(f"[{number}]" for number in re.findall(r"\d+", found[0])), text
    )
    text = _COMMA.sub("][", text)
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        return (Statement(text),)
    found, start = [], 0
    for block in blocks:
        words = text[start : block.start()].strip()
        if words:
            found.append(Statement(words, tuple(re.findall(r"\[\d+\]", block[0]))))
        start = block.end()
    rest = text[start:].strip()
    return (*found, Statement(rest)) if len(rest) > 1 else tuple(found)


def tidy(text: str) -> str:
    """A statement on one line, without a list's bullet and without punctuation that belongs to the
    statement before it."""
    words = " ".join(_TRAILING_BULLET.sub("", text).split()).lstrip(_STRAY)
    return _BULLET.sub("", words, count=1).strip()


class _Piece(NamedTuple):
    text: str
    keys: dict[str, None]


class _Placed(NamedTuple):
    """Where citations stood: before character ``at`` of the text without them."""

    at: int
    leads: bool
    keys: tuple[str, ...]


class _Layout(NamedTuple):
    """A text without its citations, and where they stood."""

    clean: str
    placed: list[_Placed]


def _layout(text: str, passages: Sequence[Passage]) -> _Layout:
    found = marks(text, Citable(passages).ids, len(passages))
    end = _body_end(text, found)
    clean, placed, start = "", [], 0
    for mark in found:
        if mark.start >= end:
            break
        clean += text[start : mark.start]
        start = mark.end
        following = text[start:end].lstrip(" ")
        if following[:1] in tuple(".,;:!?"):
            clean = clean.rstrip()
        placed.append(_Placed(len(clean), _leads(text, mark, end), mark.keys))
        if begins_sentence(following) and clean.rstrip(" ")[-1:].isalnum():
            clean += "\n"  # "Dense [1] They are" has no full stop, and is two sentences
        elif clean[-1:].isalnum() and following[:1].isalnum():
            clean += " "
    return _Layout(clean + text[start : max(start, end)], placed)


def _leads(text: str, mark: Mark, end: int) -> bool:
    """Whether a line begins with the citation, and what follows on it is what is cited for."""
    line = text.rfind("\n", 0, mark.start) + 1
    stop = text.find("\n", mark.end, end)
    rest = text[mark.end : end if stop < 0 else stop]
    if not _wordy(rest) or rest[:1] in tuple(".,;!?") or _closed(rest):
        return False
    before = text[line : mark.start]
    if not _BULLET.sub("", before, count=1).strip():
        above = text[:line].rstrip()
        return not above or not above[-1].isalnum() or before.strip() != ""
    # "[1] This is so. [2] That is so.": the line begins with one, and this one begins a sentence.
    opening = _BULLET.sub("", before, count=1).lstrip()
    return opening[:1] in tuple("[【［") and before.rstrip()[-1:] in tuple(".!?。！？")


def _closed(line: str) -> bool:
    """Whether a line ends with brackets."""
    return line.rstrip(_STRAY).endswith(("]", "】", "］"))


def _body_end(text: str, found: Sequence[Mark]) -> int:
    """Where a list of sources at the end begins; the text's length where there is none."""
    starts = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]
    end = len(text)
    for start, stop in zip(reversed(starts), reversed([*starts[1:], len(text) + 1]), strict=True):
        line = text[start : stop - 1]
        heading = _HEADING.fullmatch(line)
        if not line.strip():
            continue
        if _DEFINITION.match(line):
            end = start
        elif heading and _heads_list(heading):
            return start
        elif not (_ENTRY.match(line) or _only_marks(text, start, stop - 1, found)):
            break
    return min(end, _inline_list(text, found, end))


def _heads_list(heading: re.Match[str]) -> bool:
    """Whether a line that begins as a heading of sources holds nothing else, or the list itself."""
    rest = heading["rest"]
    return not rest or bool(heading["colon"] and _ENTRY.match(rest))


def _only_marks(text: str, start: int, stop: int, found: Sequence[Mark]) -> bool:
    inside = [mark for mark in found if start <= mark.start and mark.end <= stop]
    if not inside:
        return False
    edges = [start, *(edge for mark in inside for edge in mark[:2]), stop]
    return all(_SIGNS.fullmatch(text, a, b) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _inline_list(text: str, found: Sequence[Mark], end: int) -> int:
    """The same for a list that ends the last line: ``... Sources: [1], [2]``."""
    last = next((mark for mark in reversed(found) if mark.end <= end), None)
    if last is None or text[last.end : end].strip(_STRAY):
        return end
    heading = _INLINE_LIST.search(text, 0, last.start)
    return heading.start() if heading else end


def _nearest(pieces: list[_Piece], index: int, before: _Piece) -> _Piece:
    """The last piece with words up to ``index``; a lone full stop cites nothing."""
    return next((one for one in reversed(pieces[: index + 1]) if _wordy(one.text)), before)


def _statements(pieces: Sequence[_Piece]) -> tuple[Statement, ...]:
    return tuple(
        Statement(tidy(piece.text), tuple(piece.keys)) for piece in pieces if _wordy(piece.text)
    )


def _wordy(text: str) -> bool:
    return any(character.isalnum() for character in text)
