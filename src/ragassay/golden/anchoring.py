"""Finds the spans of a golden set again after their documents were edited: the same text in any
document, by its surroundings; an edited text in its own document, by the words that cost the fewest
characters to delete and insert. What is unclear is listed for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from ragassay.golden.documents import Document, text_at
from ragassay.golden.golden_folder import GoldenSet, alone
from ragassay.golden.golden_item import CONTEXT, GoldenItem, GoldSpan
from ragassay.golden.text_finding import numbers, occurrences
from ragassay.texts import sentences
from ragassay.texts.languages import CHARACTERS
from ragassay.texts.sentence_cutting import ends_sentence

Found = Literal["unchanged", "moved", "changed", "ambiguous", "unsure", "lost"]
Place = tuple[str, int, int]
"""Document, start and end."""

MOST_CHANGED = 0.3
"""Largest distance (edits over characters) of a text that counts as the same, edited."""
_ALIKE = 0.6
"""How alike surroundings must be, 0 to 1, to tell a place."""
_CLEARLY = 0.15
"""By how much the best place must beat the next one."""
_LONG = 60
"""Characters of a text that does not occur twice by chance."""
_PLACES = 1000
"""Places of one text that are looked at."""
_NEAR = 400
"""Characters beside an edited text in which its surroundings are looked for."""
_TELLING = 8
"""Characters of surroundings that tell a place though they are not beside it."""
_NEARLY = 0.9
"""What surroundings nearby count, beside those that are where they were."""
_BESIDE = 20
"""Characters beside a span by which an edited end of it is known."""
_TOKEN = re.compile(rf"[{CHARACTERS}]|[^\W{CHARACTERS}]+|[^\w\s]")


@dataclass(frozen=True)
class Anchored:
    """What became of a span: the same text ``unchanged`` or ``moved``, an edited text ``changed``,
    or ``new`` is ``None`` and a person chooses among ``places``: ``ambiguous``: several;
    ``unsure``: one, whose surroundings do not tell; ``lost``: none. ``distance``: edits over
    characters."""

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
        about = {"id": self.item, "span": self.number, "found": self.found}
        return {**about, **spans, "distance": self.distance, "places": self.places}


def save_places(golden: GoldenSet, spans: Sequence[Anchored]) -> None:
    """Writes spans at their new places. What people reviewed since the set was read stays."""
    if not any(span.found in ("moved", "changed") for span in spans):
        return
    anchored = {(span.item, span.number): span for span in spans}

    def placed(item: GoldenItem, number: int, span: GoldSpan) -> GoldSpan:
        found = anchored.get((item.id, number))
        # A span that a person set meanwhile is not the one that was looked for.
        return span if found is None or found.new is None or found.old != span else found.new

    with alone(golden.folder):
        golden.items = GoldenSet.open(golden.folder).items
        for item in golden.items:
            item.gold = item.gold and [placed(item, n, span) for n, span in enumerate(item.gold)]
        golden.save()


def anchor(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> Iterator[Anchored]:
    """Finds every span of some items.

    Args:
        items: with spans that count in older documents.
        documents: as they are now, by id.
    """
    for item in items:
        for number, span in enumerate(item.gold or ()):
            found, places = _found(span, documents)
            if found in ("unchanged", "moved", "changed"):
                [(name, start, end)] = places
                new = GoldSpan.of(name, documents[name].text, start, end, span.grade)
                distance = Levenshtein.normalized_distance(span.text, new.text)
                yield Anchored(item.id, number, span, found, new, distance)
            else:
                starts = tuple((name, start) for name, start, _ in places)
                yield Anchored(item.id, number, span, found, None, float(not places), starts)


def _found(span: GoldSpan, documents: Mapping[str, Document]) -> tuple[Found, list[Place]]:
    """What became of a span, and the place or places where it is or could be."""
    here = (span.document, span.start, span.end)
    is_here = text_at(documents, span) == span.text
    if is_here and _likeness(documents[span.document].text, here, span) > 1 - _CLEARLY:
        return "unchanged", [here]
    own = {name: document for name, document in documents.items() if name == span.document}
    others = {name: document for name, document in documents.items() if name != span.document}
    # Without surroundings only the text can tell, where it occurs once.
    is_bare = not span.before and not span.after
    for among in (own, others):
        exact = _exact(span, among)
        elsewhere = _exact(span, others) if among is own and exact else []
        if exact:
            ranked = sorted(
                ((_likeness(documents[place[0]].text, place, span), place) for place in exact),
                reverse=True,
            )
            # A short text found elsewhere may be another sentence.
            is_known = ranked[0][0] >= _ALIKE or (len(ranked) == 1 and len(span.text) >= _LONG)
            is_best = len(ranked) == 1 or ranked[0][0] - ranked[1][0] >= _CLEARLY
            if (is_known and is_best) or (is_bare and len(exact) + len(elsewhere) == 1):
                place = ranked[0][1]
                return "unchanged" if place == here else "moved", [place]
            return _unsettled([*exact, *elsewhere])
        if among is own and own and (edited := _edited(span, own[span.document].text)):
            places = [(span.document, start, end) for start, end in edited]
            if len(places) > 1 or _is_gone(own[span.document].text, span):
                return _unsettled(places)
            return "changed", places
    return "lost", []


def _unsettled(places: list[Place]) -> tuple[Found, list[Place]]:
    return "unsure" if len(places) == 1 else "ambiguous", places


def _exact(span: GoldSpan, documents: Mapping[str, Document]) -> list[Place]:
    return [
        (document.id, at, at + len(span.text))
        for document in documents.values()
        for at in islice(occurrences(document.text, span.text), _PLACES)
    ]


def _likeness(text: str, place: Place, span: GoldSpan, *, near: bool = False) -> float:
    """How alike the surroundings of a place are to those that the span had, 0 to 1. The better side
    counts more: an edit may be directly beside the span, or (``near``) new text between them."""
    _, start, end = place
    reach = _NEAR if near else CONTEXT
    before, after = text[max(0, start - reach) : start], text[end : end + reach]
    sides = []
    # At the beginning or the end of a document, nothing there is as good as the same text.
    for beside, around, then in (
        (before[-len(span.before) :] if span.before else before, before, span.before),
        (after[: len(span.after)] if span.after else after, after, span.after),
    ):
        wanted = then.strip()
        is_telling = near and _TELLING <= len(wanted) <= len(around)
        nearly = _NEARLY * fuzz.partial_ratio(wanted, around) if is_telling else 0.0
        sides.append(max(fuzz.ratio(beside, then), nearly) / 100)
    return 0.75 * max(sides) + 0.25 * min(sides)


def _edited(span: GoldSpan, text: str) -> list[tuple[int, int]]:
    """Where the edited text of a span may be: the best place, and what is hardly worse."""
    between = _between(text, span)
    low, high = between or (0, len(text))
    ranked = []
    for start, end in _alike(span.text, text, low, high):
        start, end = _whole(span, text, start, end)
        distance = Levenshtein.normalized_distance(span.text, text[start:end])
        likeness = _likeness(text, ("", start, end), span, near=True)
        if distance <= MOST_CHANGED and (between or likeness >= _ALIKE):
            ranked.append((likeness - distance, (start, end)))
    ranked.sort(reverse=True)
    near = [place for rank, place in ranked if ranked[0][0] - rank < _CLEARLY]
    return near[:1] if between else list(dict.fromkeys(near))


def _alike(wanted: str, text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Parts of a text, apart from one another, with most of the words of another one, the most
    alike first: their words follow from one another by few deleted and inserted characters."""
    ours = [match[0].casefold() for match in _TOKEN.finditer(wanted)]
    theirs = [(match[0].casefold(), *match.span()) for match in _TOKEN.finditer(text, low, high)]
    number = {word: n for n, word in enumerate(dict.fromkeys(word for word, _, _ in theirs))}
    words = np.array([number[word] for word, _, _ in theirs], np.int64)
    inserted = np.cumsum([0, *(len(word) for word, _, _ in theirs)]) << 32
    # A cell is the cost up to a word of the text, and below it the word where the part begins.
    costs = np.arange(len(theirs) + 1, dtype=np.int64)
    for word in ours:
        deleted = costs + (len(word) << 32)
        equal = np.flatnonzero(words == number.get(word, -1))
        deleted[equal + 1] = np.minimum(deleted[equal + 1], costs[equal])
        costs = np.minimum.accumulate(deleted - inserted) + inserted
    taken: list[tuple[int, int]] = []
    for stop in np.argsort(costs, kind="stable"):
        cost, first = divmod(int(costs[stop]), 1 << 32)
        if cost > len(wanted) * 2 * MOST_CHANGED:
            return
        if all(stop <= begin or end <= first for begin, end in taken) and first < stop:
            taken.append((first, int(stop)))
            yield theirs[first][1], theirs[stop - 1][2]


def _whole(span: GoldSpan, text: str, start: int, end: int) -> tuple[int, int]:
    """The part with edited words at its ends: up to what was beside the span, or to the ends of
    its sentences where it was whole sentences; and with the white space that the span had."""
    low, high = max(0, start - 2 * _NEAR), end + 2 * _NEAR
    spans = [(low + begin, low + stop) for begin, stop in sentences(text[low:high])]
    first = max((begin for begin, _ in spans if begin <= start), default=start)
    last = min((stop for _, stop in spans if stop >= end), default=end)
    before = span.before[-_BESIDE:].rpartition("\n")[2]
    after = span.after[:_BESIDE].partition("\n")[0]
    known = text.rfind(before, 0, start) + len(before) if before.strip() else -1
    if known >= first:
        start = known
    elif _starts(span.before):
        start = first
    known = text.find(after, end) if after.strip() else -1
    if 0 <= known <= last:
        end = known
    elif _stops(span.text, span.after):
        end = last
    start, end = start + _blank(text[start:end]), end - _blank(text[start:end][::-1])
    head, tail = span.text[: _blank(span.text)], span.text[len(span.text.rstrip()) :]
    start -= len(head) if text.endswith(head, 0, start) else 0
    return start, end + (len(tail) if text.startswith(tail, end) else 0)


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip())


def _starts(before: str) -> bool:
    """Whether a sentence or line starts after a text."""
    bare = before.rstrip()
    return not bare or "\n" in before[len(bare) :] or ends_sentence(before[-8:])


def _stops(text: str, after: str) -> bool:
    """Whether a text ends a sentence or line, with what follows it."""
    blank = text[len(text.rstrip()) :] + after[: _blank(after)]
    return not after.strip() or "\n" in blank or ends_sentence(text.rstrip() + " ")


def _between(text: str, span: GoldSpan) -> tuple[int, int] | None:
    """What is between the old surroundings, where they tell one place. Where there were none before
    or after the span, it was the first or last of the document."""
    before, after = span.before, span.after
    if not (before or after) or text.count(after or before) != 1:
        return None
    longest = round(len(span.text) * (1 + 2 * MOST_CHANGED)) + 2 * _NEAR
    end = text.index(after) if after else len(text)
    start = text.rfind(before, max(0, end - longest - len(before)), end) if before else 0
    start += len(before)
    # Where both are side by side, the span between them is gone.
    is_there = start >= len(before) and text[start:end].strip()
    return (start, end) if is_there and end - start <= longest else None


def _is_gone(text: str, span: GoldSpan) -> bool:
    """Whether what was before a span and what was after it are now side by side."""
    before, after, now = (" ".join(name.split()) for name in (span.before, span.after, text))
    if not before and len(after) >= _TELLING:
        return now.startswith(after)
    if not after and len(before) >= _TELLING:
        return now.endswith(before)
    is_telling = min(len(before), len(after)) >= _TELLING
    return is_telling and (f"{before} {after}" in now or f"{before}{after}" in now)
