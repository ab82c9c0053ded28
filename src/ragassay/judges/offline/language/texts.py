"""Texts without markup and citations, and their sentences and phrases."""

from __future__ import annotations

import re

from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.word_weights import (
    LITTLE,
    content,
    single_spaced,
    visible,
    weigh,
)

_CITATION = lists.patterns("citations")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(\s*(?:https?:|www\.|/)[^)\s]{0,1000}+\s*\)")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*[\w+#-]*[ \t]*$", re.MULTILINE)
_MARKS = re.compile(r"\*\*|__|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_BULLET = re.compile(r"^[ \t>]*(?:#{1,6}\s+|[-*+•◦▪–]\s+|\(?\d{1,3}[.)]\s+)+", re.MULTILINE)
_STOP = re.compile(
    r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？｡；])[”’」』）]*|(?<!\s)\s*\n\s*|(?<=[؟।])\s+"
)
"""A line end is looked for from the start of a run of white space only: else a long run without one
is searched from each of its characters."""
_ABBREVIATION = lists.patterns("abbreviations")
_TAIL = 20
"""Characters before an end that are searched for an abbreviation; all of them are shorter."""
_CUT = lists.patterns("phrase_ends")
_LONGEST_PHRASE = 6
"""Largest number of content words in a phrase; longer ones without a place to cut are halved."""


def plain(text: str) -> str:
    """The text without citations, link targets, Markdown marks and bullets."""
    text = _LINK.sub(r"\1", visible(text))
    text = _CITATION.sub("", text)
    text = _FENCE.sub("", text)
    # Removing a mark between spaces leaves two spaces.
    return single_spaced(_MARKS.sub("", _BULLET.sub("", text)))


def sentences(text: str) -> list[str]:
    """The sentences of a plain text, each stripped; a line end is an end."""
    pieces: list[str] = []
    start = 0
    for gap in _STOP.finditer(text):
        end = gap.start()
        if "\n" in gap.group() or not _ABBREVIATION.search(text[max(start, end - _TAIL) : end]):
            pieces.append(text[start:end])
            start = gap.end()
    pieces.append(text[start:])
    return [sentence for piece in pieces if (sentence := piece.strip())]


def phrases(sentence: str) -> list[str]:
    """The phrases of a sentence, which is cut at punctuation, prepositions and conjunctions.

    A piece that weighs less than two common words is joined to the next one, the last piece to the
    one before it.
    """
    phrases: list[str] = []
    pieces: list[str] = []
    heavy = 0
    for cut in filter(None, _CUT.split(sentence)):
        pieces.append(cut.strip())
        heavy += weigh(content(cut))
        if heavy >= 2 * LITTLE:
            phrases.extend(_short(" ".join(pieces)))
            pieces, heavy = [], 0
    if pieces and phrases:
        phrases[-1] = " ".join([phrases[-1], *pieces])
    elif heavy:
        phrases.append(" ".join(pieces))
    return phrases


def _short(phrase: str) -> list[str]:
    words = phrase.split()
    if len(content(phrase)) <= _LONGEST_PHRASE or len(words) < 2:
        return [phrase]
    middle = len(words) // 2
    return [*_short(" ".join(words[:middle])), *_short(" ".join(words[middle:]))]
