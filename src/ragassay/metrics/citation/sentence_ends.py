"""Where sentences end: rules for text of any script, with no model and no data files."""

from __future__ import annotations

import re

from ragassay.discovery import word_lists

_END = re.compile(r"(?<![.!?…])([.!?…]+[\"'”’»)\]]*)(?=\s|$)|([。！？｡]+[”’」』）]*)")
_BREAK = re.compile(r"\n\s*")
_ITEM = re.compile(r"(?:[-*•–+]|\d{1,3}[.)]|[a-zA-Z][.)]|#+|>)\s")
"""The beginning of a list's line or of a heading."""

_WORDS = word_lists("ragassay.metrics.citation", "words.txt")
_ABBREVIATIONS, _STARTERS = frozenset(_WORDS["abbreviations"]), frozenset(_WORDS["starters"])
_LABELS = frozenset(_WORDS["labels"])
_NEAR = 40
"""Most characters that are searched for a word: longer words are no abbreviations."""

_WORD = re.compile(r"\S+$")
_NEXT = re.compile(r"\s*[\"'“‘«(\[]*(\w[\w'’-]*)?")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, without the white space around it.

    Lines of a list and blank lines end a sentence; a line that merely wraps does not. Pieces that
    hold neither letter nor digit belong to the sentence before them.
    """
    spans: list[tuple[int, int]] = []
    for begin, end in _lines(text):
        start = begin
        for mark in _END.finditer(text, begin, end):
            if mark[2] or _ends(text, begin, mark.start(), mark.end(), end, mark[1]):
                _add(spans, text, start, mark.end())
                start = mark.end()
        _add(spans, text, start, end)
    return spans


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


def _ends(text: str, line: int, mark: int, after: int, end: int, signs: str) -> bool:
    """Whether the signs at ``mark`` end a sentence of the line that begins at ``line``."""
    following = _NEXT.match(text, after, end)
    word = (following[1] or "") if following else ""
    if word[:1].islower():
        return False
    if not signs.startswith(".") or signs.startswith(".."):
        return True
    before = _WORD.search(text, max(line, mark - _NEAR), mark)
    last = before[0].lstrip("([\"'“‘«") if before else ""
    if last.casefold() in _ABBREVIATIONS:
        return False
    if last.isdigit() and mark - len(last) <= line:
        return False  # the number of a list's item
    if "." in last and all(len(piece) == 1 for piece in last.split(".")):
        return word.casefold() in _STARTERS or not word
    if len(last) == 1 and last.isupper() and word:
        label = _WORD.search(text[max(line, mark - _NEAR) : mark - 1].rstrip())
        return word.casefold() in _STARTERS or (
            label is not None and label[0].casefold() in _LABELS
        )
    return True


def begins_sentence(text: str) -> bool:
    """Whether a text begins with a capitalised word that often begins sentences."""
    match = _NEXT.match(text)
    word = (match[1] or "") if match else ""
    return word[:1].isupper() and word.casefold() in _STARTERS


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if not piece.strip():
        return
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    if spans and not any(character.isalnum() for character in piece):
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))
