"""Where the sentences of a text in any script begin and end: after Unicode's Sentence_Terminal.
Signs that also occur within words need white space after them and no small letter, a full stop no
abbreviation before it. A line of a list and a blank line end a sentence."""

from __future__ import annotations

import re

from ragassay.base.packages import word_lists
from ragassay.texts.languages import UNSPACED, listed


def _ends() -> str:
    listing = word_lists("ragassay.texts", "data/sentence_terminal.txt")["ends"]
    ranges = ([chr(int(code, 16)) for code in each.split("-")] for each in listing)
    return "".join(f"{group[0]}-{group[-1]}" for group in ranges)


_ALWAYS, _CLOSE = rf"(?:[{_ends()}]|[．﹒․](?!\d))[!?]*", "[\"'”’»›)\\]」』）】》〉*_]*"
_END = re.compile(
    rf"(?<![.!?…])([.!?…]+{_CLOSE})(?=\s|$)|(?<![.!?…])([!?]+)(?=[{UNSPACED}])"
    rf"|((?:{_ALWAYS})+{_CLOSE})"
)
_LAST = re.compile(rf"(?:[.!?…]{_CLOSE}\s+|{_ALWAYS}{_CLOSE}\s*)\Z")
_BREAK = re.compile(r"\n\s*")
_ITEM = re.compile(r"(?:[-*•–+|]|\d{1,3}[.)]|[a-zA-Z][.)]|#+|>)\s")
"""The beginning of a list's line, of a table's row or of a heading."""
_NEAR = 40  # most characters that are searched for a word: longer ones are no abbreviations
_WORD = re.compile(r"\S+$")
_NEXT = re.compile(r"\s*[\"'“‘«(\[]*(\w[\w'’-]*)?")


def sentences(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of a text as it was written, without the white space around
    it. Pieces that hold neither letter nor digit belong to the sentence before them."""
    spans: list[tuple[int, int]] = []
    for begin, end in _lines(text):
        start = begin
        for mark in _END.finditer(text, begin, end):
            if mark[2] or mark[3] or _ends_here(text, start, mark, end):
                _add(spans, text, start, mark.end())
                start = mark.end()
        _add(spans, text, start, end)
    return spans


def begins_sentence(text: str) -> bool:
    """Whether a text begins with a capitalised English word that often begins sentences."""
    match = _NEXT.match(text)
    word = (match and match[1]) or ""
    return word[:1].isupper() and word.casefold() in listed("starters")


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does, with white space where its sign needs it."""
    return _LAST.search(text[-_NEAR:]) is not None


def _lines(text: str) -> list[tuple[int, int]]:
    """Stretches of text between line breaks, each from its first character that is no space."""
    stretches, start = [], len(text) - len(text.lstrip())
    for gap in _BREAK.finditer(text, start):
        before = text[max(start, gap.start() - _NEAR) : gap.start()].rstrip()[-1:]
        after = text[gap.end() : gap.end() + _NEAR]
        wraps = (
            gap[0].count("\n") == 1
            and before.isalnum() | (before == ",")
            and after[:1].islower()
            and not _ITEM.match(after)
        )
        if not wraps:
            stretches.append((start, gap.start()))
            start = gap.end()
    return [*stretches, (start, len(text))]


def _ends_here(text: str, start: int, mark: re.Match[str], end: int) -> bool:
    """Whether signs end the sentence that begins at ``start``, in a line that stops at ``end``."""
    following = _NEXT.match(text, mark.end(), end)
    assert following is not None  # it matches anywhere
    word = following[1] or ""
    if word[:1].islower():
        return False
    at, signs = mark.start(), mark[1]
    if not signs.startswith(".") or signs.startswith(".."):
        return True
    before = _WORD.search(text, max(start, at - _NEAR), at)
    last = before[0].lstrip("([\"'“‘«*_") if before else ""
    if last.casefold() in listed("abbreviations"):
        return False
    if last.casefold() in listed("numbering"):
        return not word[:1].isdigit()
    if last.isdigit():  # of a list's item; or a German ordinal
        return text[start:at].strip() != last and word.casefold() not in listed("after_ordinals")
    if len(last) == len(word) == 1 and last.islower() and text.startswith(".", following.end()):
        return False  # "z. B."
    if "." in last and all(len(piece) == 1 for piece in last.split(".")):
        return word.casefold() in listed("starters") or not word
    if len(last) == 1 and last.isupper() and word:
        label = _WORD.search(text[max(start, at - _NEAR) : at - 1].rstrip())
        return word.casefold() in listed("starters") or (
            label is not None and label[0].casefold() in listed("labels")
        )
    return True


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if not piece.strip():
        return
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    if spans and not any(map(str.isalnum, piece)):
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))
