"""From an answer's text to statements, each with what it cites, split in the three published ways.

A citation belongs to the text before it, or to the text after it where a line begins with it. A
list of sources at the end of an answer cites nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from ragassay.base.sample import Answer, Passage, Statement
from ragassay.metrics.citation.citable import Citable, Mark, marks
from ragassay.texts import sentences as sentence_spans
from ragassay.texts.sentence_cutting import begins_sentence, ends_sentence

_BULLET = re.compile(r"\s*(?:[-*•–+>]\s+|#+\s+|\d{1,3}[.)]\s+)?")
_LONE_BULLET = re.compile(r"[-*•–+>#]+|\d{1,3}[.)]")
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
_WORDY = re.compile(r"[^\W_]")
_NEAR = 80
"""Characters after a mark that are searched for the next word."""


def parts(text: str, passages: Sequence[Passage] = ()) -> tuple[Statement, ...]:
    """The parts of a text up to each citation; what follows the last one cites nothing."""
    body, citations = _without_marks(text, passages)
    edges = [0, *(placed.at for placed in citations), len(body)]
    pieces = [_Piece(body[a:b], {}) for a, b in pairwise(edges)]
    last: _Piece | None = None  # with words: a lone full stop cites nothing
    for placed, (before, after) in zip(citations, pairwise(pieces), strict=True):
        last = before if _wordy(before.text) else last
        target = after if placed.leads and _wordy(after.text) else last or before
        target.keys.update(dict.fromkeys(placed.keys))
    return _statements(pieces)


def sentences(text: str, passages: Sequence[Passage] = ()) -> tuple[Statement, ...]:
    """The sentences, each with what is cited in it, directly after it, or before it where its line
    begins with the citation."""
    body, citations = _without_marks(text, passages)
    spans = sentence_spans(body)
    pieces = [_Piece(body[a:b], {}) for a, b in spans]
    begins = [a for a, _ in spans]
    for placed in citations:
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
    """The parts as Open RAG Eval's loader splits them. Only ``[1]``, ``[1, 2]``, ``[1][2]`` and
    ``[1], [2]`` are citations; in ``[1] [2]`` the second is lost, and so is one before all text.
    Keys keep their brackets."""
    text = _SEVERAL.sub(
        lambda match: "".join(f"[{number}]" for number in re.findall(r"\d+", match[0])), text
    )
    text = _COMMA.sub("][", text)
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        return (Statement(text),)
    parts, start = [], 0
    for block in blocks:
        words = text[start : block.start()].strip()
        if words:
            parts.append(Statement(words, tuple(re.findall(r"\[\d+\]", block[0]))))
        start = block.end()
    rest = text[start:].strip()
    return (*parts, Statement(rest)) if len(rest) > 1 else tuple(parts)


def text_for_models(answer: Answer) -> str:
    """The answer as Open RAG Eval passes it to its models: its statements, or the parts of its text
    without citations, joined by spaces."""
    return " ".join(
        statement.text for statement in answer.statements or published_parts(answer.text)
    )


def without_citations(text: str, passages: Sequence[Passage]) -> str:
    """The text without citations of any form, and without a list of sources at its end."""
    return _without_marks(text, passages)[0]


def tidy(text: str) -> str:
    """A statement on one line, without a list's bullet and without leading punctuation, which
    belongs to the statement before it."""
    above, newline, last = text.rstrip().rpartition("\n")
    if newline and _LONE_BULLET.fullmatch(last.lstrip()):
        text = above  # the bullet of the next statement
    words = " ".join(text.split()).lstrip(_STRAY)
    return _BULLET.sub("", words, count=1).strip()


class _Piece(NamedTuple):
    text: str
    keys: dict[str, None]


class _Placed(NamedTuple):
    """Where citations were: before character ``at`` of the text without them."""

    at: int
    leads: bool
    keys: tuple[str, ...]


def _without_marks(text: str, passages: Sequence[Passage]) -> tuple[str, list[_Placed]]:
    """A text without its citations and without a list of sources, and where citations were."""
    citations = marks(text, Citable(passages), len(passages))
    end = _body_end(text, citations)
    pieces, placed = list[str](), list[_Placed]()
    start = size = 0
    for mark in citations:
        if mark.start >= end:
            break
        piece, start = text[start : mark.start], mark.end
        begins = start
        while begins < end and text[begins] == " ":
            begins += 1
        following = text[begins : min(begins + _NEAR, end)]
        if following[:1] in tuple(".,;:!?"):
            piece = piece.rstrip()
        placed.append(_Placed(size + len(piece), _leads(text, mark, end), mark.keys))
        if begins_sentence(following) and piece.rstrip(" ")[-1:].isalnum():
            piece += "\n"  # "Dense [1] They are" has no full stop, and is two sentences
        elif piece[-1:].isalnum() and following[:1].isalnum():
            piece += " "
        pieces.append(piece)
        size += len(piece)
    return "".join(pieces) + text[start : max(start, end)], placed


def _leads(text: str, mark: Mark, end: int) -> bool:
    """Whether a line of a text up to ``end`` begins with the citation and goes on with the text
    that it is cited for."""
    start = text.rfind("\n", 0, mark.start) + 1
    stop = text.find("\n", mark.end, end)
    stop = end if stop < 0 else stop
    if not _WORDY.search(text, mark.end, stop) or text[mark.end] in ".,;!?":
        return False
    if text[text.rfind("\n", 0, mark.end) + 1 : stop].rstrip(_STRAY).endswith(("]", "】", "］")):
        return False
    bullet = _BULLET.match(text, start, stop)
    first_word = bullet.end() if bullet else start
    ended = _last_sign(text, mark.start, start)
    if first_word >= mark.start:
        return not _last_sign(text, start).isalnum() or ended != ""
    # "[1] This is so. [2] That is so.": the line begins with one, this one begins a sentence.
    return text[first_word] in "[【［" and ends_sentence(f"{ended} ")


def _last_sign(text: str, end: int, start: int = 0) -> str:
    """The last character before ``end`` that is no white space; empty where there is none."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return text[end - 1 : end] if end > start else ""


def _body_end(text: str, citations: Sequence[Mark]) -> int:
    """The index at which a list of sources at the end begins; the text's length where there is
    none."""
    starts, end = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")], len(text)
    for start, stop in zip(reversed(starts), reversed([*starts[1:], len(text) + 1]), strict=True):
        line = text[start : stop - 1]
        heading = _HEADING.fullmatch(line)
        if not line.strip():
            continue
        if _DEFINITION.match(line):
            end = start
        elif heading and (
            not heading["rest"] or (heading["colon"] and _ENTRY.match(heading["rest"]))
        ):
            return start
        elif not (_ENTRY.match(line) or _only_marks(text, start, stop - 1, citations)):
            break
    return min(end, _inline_list(text, citations, end))


def _only_marks(text: str, start: int, stop: int, citations: Sequence[Mark]) -> bool:
    first = bisect_left(citations, start, key=attrgetter("start"))
    inside = citations[first : bisect_right(citations, stop, key=attrgetter("end"))]
    if not inside:
        return False
    edges = [start, *(edge for mark in inside for edge in mark[:2]), stop]
    return all(_SIGNS.fullmatch(text, a, b) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _inline_list(text: str, citations: Sequence[Mark], end: int) -> int:
    """The same as `_body_end` for a list that ends the last line: ``... Sources: [1], [2]``."""
    last = next((mark for mark in reversed(citations) if mark.end <= end), None)
    if last is None or text[last.end : end].strip(_STRAY):
        return end
    heading = _INLINE_LIST.search(text, 0, last.start)
    return heading.start() if heading else end


def _statements(pieces: Sequence[_Piece]) -> tuple[Statement, ...]:
    return tuple(
        Statement(tidy(piece.text), tuple(piece.keys)) for piece in pieces if _wordy(piece.text)
    )


def _wordy(text: str) -> bool:
    return _WORDY.search(text) is not None
