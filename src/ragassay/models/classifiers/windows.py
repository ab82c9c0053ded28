"""Cutting a long text into overlapping stretches for a model."""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[int, int]
"""Start and end in characters."""


def windows(text: str, tokens: Sequence[Span], size: int, overlap: int) -> list[Span]:
    """Overlapping stretches of a text that together hold every token.

    They begin and end between words, where there is white space within half a window; in text
    without any they may cut a word.

    Args:
        text: the text.
        tokens: start and end of its tokens, in characters, in their order.
        size: most tokens of a stretch, at least 1.
        overlap: about how many tokens a stretch shares with the one before it, from 0 to half of
            ``size``.

    Returns:
        Start and end of each stretch, in characters.
    """
    if not tokens:
        return []
    stretches: list[Span] = []
    begin = 0
    while True:
        end = min(begin + size, len(tokens))
        if end < len(tokens):
            end = _word(text, tokens, end, begin + max(1, size // 2))
        start, stop = tokens[begin][0], tokens[end - 1][1]
        stretches.append((start, stop))
        if end == len(tokens):
            return stretches
        nearest = max(begin + 1, end - overlap)
        begin = _word(text, tokens, nearest, max(begin + 1, nearest - size // 4))


def _word(text: str, tokens: Sequence[Span], at: int, lowest: int) -> int:
    """The last token from ``lowest`` to ``at`` that begins a word; ``at`` where there is none."""
    for index in range(at, lowest - 1, -1):
        start = tokens[index][0]
        if start == 0 or text[start - 1].isspace() or text[start : start + 1].isspace():
            return index
    return at
