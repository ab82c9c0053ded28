"""Cutting a long text into overlapping stretches that a model takes."""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[int, int]
"""Start and end in characters."""


def windows(text: str, tokens: Sequence[Span], size: int, overlap: int) -> list[Span]:
    """Stretches of a text of at most ``size`` tokens, each sharing about ``overlap`` of them with
    the one before it. Together they hold every token.

    They begin and end between words, where there is white space within half a window; in text
    without any they may cut a word.

    Args:
        text: the text.
        tokens: where its tokens are, in their order.
        size: at least 1.
        overlap: from 0 to half of ``size``.
    """
    if not tokens:
        return []
    found: list[Span] = []
    begin = 0
    while True:
        end = min(begin + size, len(tokens))
        if end < len(tokens):
            end = _word(text, tokens, end, begin + max(1, size // 2))
        start, stop = tokens[begin][0], tokens[end - 1][1]
        found.append((start, stop))
        if end == len(tokens):
            return found
        nearest = max(begin + 1, end - overlap)
        begin = _word(text, tokens, nearest, max(begin + 1, nearest - size // 4))


def _word(text: str, tokens: Sequence[Span], at: int, lowest: int) -> int:
    """The last token from ``lowest`` to ``at`` that begins a word; ``at`` where there is none."""
    for index in range(at, lowest - 1, -1):
        start = tokens[index][0]
        if start == 0 or text[start - 1].isspace() or text[start : start + 1].isspace():
            return index
    return at
