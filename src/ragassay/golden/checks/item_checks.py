"""Checks of items that no judge makes: gold spans and their texts, queries that hold their answer,
references that contradict each other, queries asked twice, and when items were verified."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import combinations

from ragassay.base.counts import grouped
from ragassay.base.sample import Answerability
from ragassay.golden import anchor
from ragassay.golden.alignment.text_finding import Forms, Place
from ragassay.golden.checks.golden_findings import CheckOptions, Finding, finding
from ragassay.golden.checks.golden_groups import near_duplicates, plain
from ragassay.golden.documents import Document
from ragassay.golden.golden_diff import differing, excerpt
from ragassay.golden.golden_item import GoldenItem
from ragassay.judges.offline.words import content, spaced

_DISTINCTIVE = 20
"""Characters of a text that does not stand at several places by chance."""
_MOST_PLACES = 50
"""Places of a text in a document that are looked for."""
_SHORTEST = 4
"""Characters of a reference that may leak: a shorter one stands in many queries."""
_POLAR = {
    "yes": ("no",), "ja": ("nein",), "oui": ("non",), "sí": ("no",), "是": ("否", "不是"),
    "是的": ("否", "不是", "不是的"), "对": ("不对",), "對": ("不對",),
}  # fmt: skip
"""Words of yes, each with its words of no."""
_NEGATIONS = frozenset({"not", "never", "nicht", "nie", "niemals", "pas", "jamais", "no", "nunca"})
"""Words that negate a sentence, which is one without them, too."""
_DIGITS = re.compile(r"\d+")
_ZONES = timedelta(days=1)
"""By how much the day of a person is ahead of that of UTC."""


def misplaced_spans(
    items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> Iterator[Finding]:
    """Spans whose text does not stand at their place, and answerable queries without a reference or
    a span."""
    for item in items:
        for number, span in enumerate(item.gold or ()):
            document = documents.get(span.document)
            text = "" if document is None else document.text[span.start : span.end]
            if text == span.text:
                continue
            [place] = anchor([item.model_copy(update={"gold": [span]})], documents)
            found = "finds it" if place.new is not None else f"says: {place.found}"
            told = {"number": str(number), "document": span.document, "found": found}
            if document is None:
                yield finding("span_of_no_document", item.id, "error", **told)
            elif span.end > len(document.text):
                told |= {"end": str(span.end), "n": f"{len(document.text):,}"}
                yield finding("span_outside", item.id, "error", **told)
            else:
                wanted, actual = differing(span.text, text)
                yield finding(
                    "span_of_other_text", item.id, "error", **told, wanted=wanted, actual=actual
                )
        if item.answerability in (Answerability.ANSWERABLE, Answerability.PARTIAL, None):
            it = "no answerability is given" if item.answerability is None else "it is answerable"
            if not item.references:
                yield finding("no_reference", item.id, "error", it=it)
            if not item.gold:
                yield finding("no_gold_span", item.id, it=it)


def repeated_texts(
    items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> Iterator[Finding]:
    """Texts of gold that also stand where they are no gold of the item."""
    texts = {
        item.id: dict.fromkeys(" ".join(span.text.split()) for span in item.evidence)
        for item in items
    }
    stands = _places({text for of_item in texts.values() for text in of_item}, documents)
    for item in items:
        gold = [(span.document, span.start, span.end) for span in item.evidence]
        for text in texts[item.id]:
            places = [
                f"{name}:{start}"
                for name, start, end in stands.get(text, ())
                if not any(name == own and a < end and start < b for own, a, b in gold)
            ]
            if places:
                yield finding("stands_elsewhere", item.id, text=excerpt(text), names=places)


def _places(texts: Iterable[str], documents: Mapping[str, Document]) -> dict[str, list[Place]]:
    """Where each text stands, white space aside: document, start and end. Each document is read
    once, however many texts there are; texts below `_DISTINCTIVE` are left out."""
    by_start = grouped((text[:_DISTINCTIVE], text) for text in texts if len(text) >= _DISTINCTIVE)
    places = defaultdict[str, list[Place]](list)
    forms = Forms(documents)
    for name in documents:
        joined = forms.text(name)
        pieces = (joined[at : at + _DISTINCTIVE] for at in range(len(joined) - _DISTINCTIVE + 1))
        for start in {piece for piece in pieces if piece in by_start}:
            for text in by_start[start]:
                for _, at in forms.occurrences(text, [name], _MOST_PLACES):
                    places[text].append(forms.place(name, at, at + len(text)))
    return places


def leaks(items: Sequence[GoldenItem]) -> Iterator[Finding]:
    """Queries that hold their answer."""
    for item in items:
        query = plain(spaced(item.query))
        for reference in item.references:
            words = plain(spaced(reference))
            if len(words) >= _SHORTEST and words.strip() and f" {words} " in f" {query} ":
                yield finding("holds_answer", item.id, "error", reference=reference)


def contradictions(items: Sequence[GoldenItem]) -> Iterator[Finding]:
    """References that contradict each other or the wrong answers of their item."""
    for item in items:
        first = {plain(one).partition(" ")[0] for one in item.references}
        if any(yes in first and not first.isdisjoint(no) for yes, no in _POLAR.items()):
            yield finding("yes_and_no", item.id, "error")
        wrong = {plain(one.text) for one in item.negative_references}
        for one in item.references:
            if plain(one) in wrong:
                yield finding("right_and_wrong", item.id, "error", text=one)
        for one, other in combinations(item.references, 2):
            if differ := _same_but_for(one, other):
                yield finding("differ_alone", item.id, one=one, other=other, what=differ)


def _same_but_for(one: str, other: str) -> str:
    """What alone tells two texts apart: a number in digits, a negation; empty for anything else."""
    words, others = plain(one).split(), plain(other).split()
    first, second = numbers(one), numbers(other)
    if first and second and first.isdisjoint(second):
        plain_words, plain_others = (
            [word for word in text if not _DIGITS.search(word)] for text in (words, others)
        )
        return "a number" if plain_words == plain_others else ""
    for fewer, more in ((words, others), (others, words)):
        without = [word for word in more if word not in _NEGATIONS]
        if without == fewer and fewer and len(without) < len(more):
            return "a negation"
    return ""


def numbers(text: str) -> set[str]:
    """The numbers that a text writes in digits, each in one spelling."""
    in_words = set(content(spaced(_DIGITS.sub(" ", text))))
    return set(filter(_DIGITS.search, content(spaced(text)))) - in_words


def duplicates(items: Sequence[GoldenItem]) -> Iterator[Finding]:
    """Queries that ask nearly the same as an earlier one, each with the first such query."""
    first_like: dict[int, int] = {}
    for first, second in near_duplicates(items):
        if first_like.setdefault(second, first) == first:
            yield finding("asked_twice", items[second].id, first=items[first].id)


def ages(
    items: Sequence[GoldenItem], changed: Mapping[str, date], options: CheckOptions
) -> Iterator[Finding]:
    """Items that were verified too long ago, before their documents changed, or in the future."""
    today = options.today or datetime.now(UTC).date()
    if options.max_age is not None:
        verified = [(one.verified_on, one.id) for one in items if one.verified_on is not None]
        for then, name in sorted(verified):
            if (days := (today - then).days) > options.max_age:
                yield finding("verified_long_ago", name, n=days)
        if unknown := [one.id for one in items if one.verified_on is None]:
            yield finding("never_verified", names=unknown)
    for item in items:
        day = item.verified_on
        if day is None:
            continue
        if day > today + _ZONES:
            yield finding("verified_in_future", item.id, "error", day=str(day))
        for name in dict.fromkeys(span.document for span in item.evidence):
            if name in changed and changed[name] > day:
                yield finding("changed_since", item.id, document=name, day=str(day))
