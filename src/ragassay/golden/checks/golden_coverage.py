"""What the items of a golden set cover, and what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rapidfuzz import fuzz

from ragassay.golden.checks.golden_groups import alike_texts, plain
from ragassay.golden.documents import Document
from ragassay.golden.golden_item import GoldenItem
from ragassay.judges.offline.words import n_words

_FIELDS = ("type", "complexity", "source", "language", "answerability", "origin", "status")


def coverage(
    items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> dict[str, dict[str, int]]:
    """Items by document, by section and by what their fields say.

    Returns:
        For each table the number of items by value. A section is named by its document and the
        heading above it (of a PDF file without bookmarks: the page); those without text are left
        out.
    """
    by_document = Counter(
        name for item in items for name in {span.document for span in item.gold or ()}
    )
    tables = {"document": {name: by_document.get(name, 0) for name in documents}}
    if sections := _sections(items, documents):
        tables["section"] = sections
    for name in _FIELDS:
        counts = Counter(str(getattr(item, name) or "not said") for item in items)
        if set(counts) != {"not said"}:
            tables[name] = dict(counts.most_common())
    lengths = Counter(_length(item) for item in items)
    return {**tables, "length of the query": {key: lengths[key] for key in sorted(lengths)}}


def _sections(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> dict[str, int]:
    """Items by section; none where no document has headings."""
    parts = {
        name: headed
        for name, document in documents.items()
        if len(headed := list(_headed(document))) > 1
    }
    counts = Counter(
        name
        for item in items
        for name in {
            _named(span.document, title)
            for span in item.gold or ()
            for title, start, end in parts.get(span.document, ())
            if span.start < end and start < span.end
        }
    )
    names = [_named(name, title) for name, headed in parts.items() for title, _, _ in headed]
    return {name: counts[name] for name in names}


def _headed(document: Document) -> Iterator[tuple[str, int, int]]:
    """The heading of each section that holds text, where it begins and where it ends."""
    for heading, start, end in document.parts():
        if heading is not None and document.text[start:end].strip():
            yield heading.title, start, end


def _named(document: str, title: str) -> str:
    return f"{document}: {title}"


def _length(item: GoldenItem) -> str:
    n = n_words(item.query)
    return next(label for most, label in _LENGTHS if n <= most)


def uncovered(items: Sequence[GoldenItem], log: Sequence[str]) -> list[str]:
    """The queries of a log that no item is like."""
    queries = [plain(item.query) for item in items]
    pairs = alike_texts([plain(one) for one in log], queries, fuzz.token_set_ratio, _COVERED)
    covered = {at for at, _ in pairs}
    return [query for at, query in enumerate(log) if at not in covered]


_COVERED = 60.0
"""How alike a query of a log and one of the set are, so that the set covers it, 0 to 100."""
_LENGTHS = ((5, "1 to 5 words"), (15, "6 to 15 words"), (float("inf"), "over 15 words"))
