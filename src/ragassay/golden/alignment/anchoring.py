"""Finds the spans of a golden set again after their documents were edited.

A span is found where its text stands with the surroundings that it had. What could be at several
places, or stands nowhere, is listed for a person and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from ragassay.golden.alignment.span_alignment import aligned, alike_parts, occurrences
from ragassay.golden.alignment.text_finding import numbers
from ragassay.golden.documents import Document, text_at
from ragassay.golden.golden_folder import GoldenSet, alone
from ragassay.golden.golden_item import CONTEXT, GoldenItem, GoldSpan

Found = Literal["unchanged", "moved", "changed", "ambiguous", "unsure", "lost"]

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
_LOCATED = 0.6
"""How alike a part of a document must be, 0 to 1, to be looked at for an edited text."""
_NEAR = 400
"""Characters beside an edited text in which its surroundings are looked for."""
_TELLING = 8
"""Characters of surroundings that tell a place though they do not stand beside it."""
_KNOWN = 0.8
"""How alike such surroundings must be, 0 to 1."""
_RIVALS = 9
"""Parts of a document that are looked at for an edited text."""
_NEARLY = 0.9
"""What surroundings that stand near count, beside those that stand where they stood."""


@dataclass(frozen=True)
class Anchored:
    """What became of a span.

    Attributes:
        found: ``unchanged`` and ``moved``: the same text; ``changed``: an edited text;
            ``ambiguous``: several places could be it; ``unsure``: one could be it, and its
            surroundings do not tell; ``lost``: none.
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

    @property
    def has_other_numbers(self) -> bool:
        """Whether the text at the new place says other numbers, so that references may be wrong."""
        return self.new is not None and numbers(self.old.text) != numbers(self.new.text)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        new = None if self.new is None else self.new.model_dump()
        spans = {"old": self.old.model_dump(), "new": new}
        told = {"id": self.item, "span": self.number, "found": self.found}
        return {**told, **spans, "distance": self.distance, "places": self.places}


def save_places(golden: GoldenSet, spans: Sequence[Anchored]) -> None:
    """Writes spans at their new places. What people reviewed since the set was read stays."""
    if not any(one.found in ("moved", "changed") for one in spans):
        return
    anchored = {(one.item, one.number): one for one in spans}

    def placed(item: GoldenItem, number: int, span: GoldSpan) -> GoldSpan:
        one = anchored.get((item.id, number))
        # A span that a person set meanwhile is not the one that was looked for.
        return span if one is None or one.new is None or one.old != span else one.new

    with alone(golden.folder):
        golden.items = GoldenSet.open(golden.folder).items
        for item in golden.items:
            item.gold = item.gold and [placed(item, n, one) for n, one in enumerate(item.gold)]
        golden.save()


def anchor(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> Iterator[Anchored]:
    """Finds every span of some items.

    Args:
        items: with spans that count in older documents.
        documents: as they are now, by id.
    """
    for item in items:
        for number, span in enumerate(item.gold or ()):
            outcome, place, distance, places = _place(span, documents)
            new = None
            if place is not None:
                document, start, end = place
                new = GoldSpan.of(document, documents[document].text, start, end, span.grade)
            yield Anchored(item.id, number, span, outcome, new, distance, tuple(places))


Place = tuple[str, int, int]


def _place(
    span: GoldSpan, documents: Mapping[str, Document]
) -> tuple[Found, Place | None, float, list[tuple[str, int]]]:
    if text_at(documents, span) == span.text:
        likeness = _likeness(documents[span.document].text, span.start, span.end, span)
        if likeness > 1 - _CLEARLY:
            return "unchanged", (span.document, span.start, span.end), 0.0, []
    own = {key: one for key, one in documents.items() if key == span.document}
    others = {key: one for key, one in documents.items() if key != span.document}
    # Without surroundings only the text can tell, where it stands once.
    everywhere = [] if span.before or span.after else _exact(span, documents)
    for among in (own, others):
        exact = _exact(span, among)
        likely = [
            (_likeness(documents[name].text, at, at + len(span.text), span), name, at)
            for name, at in exact
        ]
        place = everywhere[0] if len(everywhere) == 1 else _likeliest(likely, span)
        if place is not None:
            document, at = place
            outcome: Found = "unchanged" if place == (span.document, span.start) else "moved"
            return outcome, (document, at, at + len(span.text)), 0.0, []
        if exact:
            # What stands in another document is named, too: it may be where the text moved to.
            return _unsettled([*exact, *(_exact(span, others) if among is own else ())])
        changed = _changed(span, among)
        if changed is not None:
            candidates, distance = changed
            # Where the text was deleted, what is like it is another row or sentence of its kind.
            first = candidates[0]
            holds_section = _holds_new_section(span, first, documents)
            if len(candidates) > 1 or holds_section or _is_another(span, first, documents):
                return _unsettled([(name, at) for name, at, _ in candidates])
            return "changed", first, distance, []
    return "lost", None, 1.0, []


def _exact(span: GoldSpan, documents: Mapping[str, Document]) -> list[tuple[str, int]]:
    return [
        (one.id, at)
        for one in documents.values()
        for at in islice(occurrences(one.text, span.text), _PLACES)
    ]


def _unsettled(places: list[tuple[str, int]]) -> tuple[Found, None, float, list[tuple[str, int]]]:
    return "unsure" if len(places) == 1 else "ambiguous", None, 0.0, places


def _likeliest(likely: list[tuple[float, str, int]], span: GoldSpan) -> tuple[str, int] | None:
    """The place that the surroundings tell; ``None`` where they do not."""
    ranked = sorted(likely, reverse=True)
    if not ranked:
        return None
    best = ranked[0]
    if len(ranked) > 1 and best[0] - ranked[1][0] < _CLEARLY:
        return None
    # A short text that stands elsewhere may be another sentence: its surroundings must be known.
    is_sure = best[0] >= _ALIKE or (len(ranked) == 1 and len(span.text) >= _LONG)
    return (best[1], best[2]) if is_sure else None


def _likeness(text: str, start: int, end: int, span: GoldSpan, *, near: bool = False) -> float:
    """How alike the surroundings of a place are to those that the span had, 0 to 1.

    The better side counts more: an edit may stand directly beside the span. Where ``near`` says so,
    new text may stand between the span and its surroundings.
    """
    reach = _NEAR if near else CONTEXT
    before, after = text[max(0, start - reach) : start], text[end : end + reach]
    # At the beginning or the end of a document, nothing there is as good as the same text.
    sides = sorted(
        max(fuzz.ratio(beside, then) / 100, _near(around, then) if near else 0.0)
        for beside, around, then in (
            (before[-len(span.before) :] if span.before else before, before, span.before),
            (after[: len(span.after)] if span.after else after, after, span.after),
        )
    )
    return 0.75 * sides[1] + 0.25 * sides[0]


def _changed(span: GoldSpan, documents: Mapping[str, Document]) -> tuple[list[Place], float] | None:
    """The places of an edited text, several where none of them is clearly best, and the distance of
    the first one: between its surroundings, or where it is most alike."""
    matches: list[tuple[float, float, Place]] = []
    for one in documents.values():
        between = _between(one.text, span)
        ends = None
        if between is not None:
            ends = _ends(one.text, span, *between) or _all(one.text, span, *between)
        if ends is not None:
            matches.append((1 - ends[0], ends[0], (one.id, *ends[1:])))
            continue
        for start, end in _regions(one.text, span):
            ends = _ends(one.text, span, start, end)
            if ends is None:
                continue
            likeness = _likeness(one.text, *ends[1:], span, near=True)
            if likeness >= _ALIKE:
                matches.append((likeness - ends[0], ends[0], (one.id, *ends[1:])))
    if not matches:
        return None
    ranked = sorted(matches, key=lambda one: (-one[0], one[2]))
    best = ranked[0]
    near = [one[2] for one in ranked if best[0] - one[0] < _CLEARLY]
    return list(dict.fromkeys(near)), best[1]


def _regions(text: str, span: GoldSpan) -> Iterator[tuple[int, int]]:
    if len(text) < len(span.text):
        yield 0, len(text)
    margin = round(len(span.text) * MOST_CHANGED)
    for start, end in alike_parts(span.text, text, len(span.text), _LOCATED * 100, _RIVALS):
        yield max(0, start - margin), min(len(text), end + margin)


def _ends(text: str, span: GoldSpan, start: int, end: int) -> tuple[float, int, int] | None:
    """The distance, the start and the end of an edited span in a part of a document."""
    begin, stop = max(0, start - CONTEXT), min(len(text), end + CONTEXT)
    ends = aligned(span.text, span.before, span.after, text, begin, stop)
    return None if ends is None else _all(text, span, *ends)


def _all(text: str, span: GoldSpan, start: int, end: int) -> tuple[float, int, int] | None:
    """As `_ends`, where all of a part is the edited span: its last words may be other ones."""
    distance = Levenshtein.normalized_distance(span.text, text[start:end])
    return (distance, start, end) if distance <= MOST_CHANGED else None


def _near(now: str, then: str) -> float:
    wanted = then.strip()
    if len(wanted) < _TELLING or len(now) < len(wanted):
        return 0.0
    return _NEARLY * fuzz.partial_ratio(wanted, now, score_cutoff=_KNOWN * 100) / 100


def _is_another(span: GoldSpan, place: Place, documents: Mapping[str, Document]) -> bool:
    """Whether the surroundings of a span show that it was deleted, or that it stood elsewhere."""
    document, start, end = place
    text = documents[document].text
    if _is_gone(text, span):
        return True
    between = _between(text, span)
    return between is not None and not between[0] <= start < end <= between[1]


def _holds_new_section(span: GoldSpan, place: Place, documents: Mapping[str, Document]) -> bool:
    """Whether a heading that the span did not hold stands in a place: a section that was written
    there is no part of it."""
    document, start, end = place
    now = documents[document].text[start:end]
    return any(
        one.title in now and one.title not in span.text and start < one.start < end
        for one in documents[document].headings
    )


def _is_gone(text: str, span: GoldSpan) -> bool:
    """Whether what stood before a span and what stood after it now stand side by side."""
    before, after = " ".join(span.before.split()), " ".join(span.after.split())
    if not before and len(after) >= _TELLING:
        return " ".join(text[: 2 * _NEAR].split()).startswith(after)
    if not after and len(before) >= _TELLING:
        return " ".join(text[-2 * _NEAR :].split()).endswith(before)
    if min(len(before), len(after)) < _TELLING:
        return False
    now = " ".join(text.split())
    return f"{before} {after}" in now or f"{before}{after}" in now


def _between(text: str, span: GoldSpan) -> tuple[int, int] | None:
    """What stands between the old surroundings, where they tell one place. Where there were none
    before or after the span, it was the first or last of the document."""
    if not span.before and not span.after:
        return None
    before, after = span.before, span.after
    if (after or before) and text.count(after or before) != 1:
        return None
    longest = round(len(span.text) * (1 + 2 * MOST_CHANGED)) + 2 * _NEAR
    end = text.index(after) if after else len(text)
    start = text.rfind(before, max(0, end - longest - len(before)), end) if before else 0
    # Where both stand side by side, the span between them is gone.
    if start < 0 or not text[start + len(before) : end].strip():
        return None
    return (start + len(before), end) if end - start - len(before) <= longest else None
