"""Finds the spans of a golden set again after their documents were edited.

A span is found where its text stands with the surroundings that it had. What could be at several
places, or stands nowhere, is listed for a person and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from ragassay.golden.documents import Document
from ragassay.golden.golden_item import CONTEXT, GoldenItem, GoldSpan

Found = Literal["unchanged", "moved", "changed", "ambiguous", "lost"]

MOST_CHANGED = 0.3
"""Largest distance (edits over characters) of a text that counts as the same, edited."""

_ALIKE = 0.6
"""How alike surroundings must be, 0 to 1, to tell a place."""
_CLEARLY = 0.15
"""By how much the best place must beat the next one."""
_LONG = 60
"""Characters of a text that does not stand twice by chance."""
_PLACES = 1000
"""Places of one text that are looked at."""


@dataclass(frozen=True)
class Anchored:
    """What became of a span.

    Attributes:
        item: id of the query.
        number: of the span, from 0.
        old: as the golden set has it.
        found: ``unchanged`` and ``moved``: the same text; ``changed``: an edited text;
            ``ambiguous``: several places could be it; ``lost``: none.
        new: where it is now; ``None`` where a person must say.
        distance: edits over characters between the old text and the new one.
        places: where it could be, as document and start, for a person to choose.
    """

    item: str
    number: int
    old: GoldSpan
    found: Found
    new: GoldSpan | None
    distance: float = 0.0
    places: tuple[tuple[str, int], ...] = ()


def anchor(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> Iterator[Anchored]:
    """Finds every span of some items.

    Args:
        items: with spans that count in older documents.
        documents: as they are now, by id.
    """
    for item in items:
        for number, span in enumerate(item.gold or ()):
            found, place, distance, places = _place(span, documents)
            new = None
            if place is not None:
                document, start, end = place
                new = GoldSpan.of(document, documents[document].text, start, end, span.grade)
            yield Anchored(item.id, number, span, found, new, distance, tuple(places))


Place = tuple[str, int, int]


def _place(
    span: GoldSpan, documents: Mapping[str, Document]
) -> tuple[Found, Place | None, float, list[tuple[str, int]]]:
    here = documents.get(span.document)
    if here is not None:
        stays = here.text[span.start : span.end] == span.text
        if stays and _likeness(here.text, span.start, span.end, span) > 1 - _CLEARLY:
            return "unchanged", (span.document, span.start, span.end), 0.0, []
    near = {} if here is None else {here.id: here}
    for among in (near, {key: one for key, one in documents.items() if key not in near}):
        exact = [
            (_likeness(one.text, at, at + len(span.text), span), one.id, at)
            for one in among.values()
            for at in _occurrences(one.text, span.text)
        ]
        told = _told(exact, span)
        if told is not None:
            document, at = told
            moved: Found = "moved"
            if (document, at) == (span.document, span.start):
                moved = "unchanged"
            return moved, (document, at, at + len(span.text)), 0.0, []
        if exact:
            return "ambiguous", None, 0.0, [(name, at) for _, name, at in exact]
        changed = _changed(span, among)
        if changed is not None:
            place, distance = changed
            return "changed", place, distance, []
    return "lost", None, 1.0, []


def _told(exact: list[tuple[float, str, int]], span: GoldSpan) -> tuple[str, int] | None:
    """The place that the surroundings tell; ``None`` where they do not."""
    ranked = sorted(exact, reverse=True)
    if not ranked:
        return None
    best = ranked[0]
    if len(ranked) > 1 and best[0] - ranked[1][0] < _CLEARLY:
        return None
    # A short text that stands elsewhere may be another sentence: its surroundings must be known.
    known = best[0] >= _ALIKE or (len(ranked) == 1 and len(span.text) >= _LONG)
    return (best[1], best[2]) if known else None


def _likeness(text: str, start: int, end: int, span: GoldSpan) -> float:
    """How alike the surroundings of a place are to those that the span had, 0 to 1.

    The better side counts more: an edit may stand directly beside the span.
    """
    before = text[max(0, start - CONTEXT) : start]
    after = text[end : end + CONTEXT]
    # At the beginning or the end of a document, nothing there is as good as the same text.
    sides = sorted(
        (
            _alike(before[-len(span.before) :] if span.before else before, span.before),
            _alike(after[: len(span.after)] if span.after else after, span.after),
        )
    )
    return 0.75 * sides[1] + 0.25 * sides[0]


def _alike(now: str, then: str) -> float:
    if not now and not then:
        return 1.0
    return 0.0 if not now or not then else fuzz.ratio(now, then) / 100


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    for _ in range(_PLACES):
        if at < 0:
            return
        yield at
        at = text.find(wanted, at + 1)


def _changed(span: GoldSpan, documents: Mapping[str, Document]) -> tuple[Place, float] | None:
    """The place of an edited text: between its surroundings, or where it is most alike."""
    found: list[tuple[float, Place]] = []
    for one in documents.values():
        between = _between(one.text, span)
        if between is None:
            best = fuzz.partial_ratio_alignment(
                span.text, one.text, score_cutoff=(1 - MOST_CHANGED) * 100
            )
            if best is None or len(one.text) < len(span.text):
                continue
            between = (best.dest_start, best.dest_end)
            if _likeness(one.text, *between, span) < _ALIKE:
                continue
        start, end = between
        distance = Levenshtein.normalized_distance(span.text, one.text[start:end])
        if distance <= MOST_CHANGED:
            found.append((distance, (one.id, start, end)))
    if not found:
        return None
    ranked = sorted(found)
    if len(ranked) > 1 and ranked[1][0] - ranked[0][0] < _CLEARLY:
        return None
    distance, place = ranked[0]
    return place, distance


def _between(text: str, span: GoldSpan) -> tuple[int, int] | None:
    """What stands between the old surroundings, where each of them stands once."""
    before, after = span.before[-CONTEXT // 2 :], span.after[: CONTEXT // 2]
    if not before or not after or text.count(before) != 1 or text.count(after) != 1:
        return None
    start, end = text.index(before) + len(before), text.index(after)
    longest = round(len(span.text) * (1 + 2 * MOST_CHANGED))
    return (start, end) if start < end <= start + longest else None
