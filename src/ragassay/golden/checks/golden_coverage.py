"""What the items of a golden set cover, and what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz

from ragassay.golden.checks.golden_groups import alike_texts, plain
from ragassay.golden.documents import Document
from ragassay.golden.golden_item import GoldenItem
from ragassay.judges.offline.words import n_words

_FIELDS = ("type", "complexity", "source", "language", "answerability", "origin", "status")
_COVERED = 60.0
"""How alike a query of a log and one of the set are, so that the set covers it, 0 to 100."""
_LENGTHS = ((5, "1 to 5 words"), (15, "6 to 15 words"), (float("inf"), "over 15 words"))


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
    lengths = Counter(
        next(label for most, label in _LENGTHS if n_words(item.query) <= most) for item in items
    )
    return {**tables, "length of the query": {key: lengths[key] for key in sorted(lengths)}}


def _sections(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> dict[str, int]:
    """Items by section; none where no document has headings."""
    parts = {
        name: headed
        for name, document in documents.items()
        if len(
            headed := [
                (f"{name}: {heading.title}", start, end)
                for heading, start, end in document.parts()
                if heading is not None and document.text[start:end].strip()
            ]
        )
        > 1
    }
    counts = Counter(
        section
        for item in items
        for section in {
            section
            for span in item.gold or ()
            for section, start, end in parts.get(span.document, ())
            if span.start < end and start < span.end
        }
    )
    return {section: counts[section] for headed in parts.values() for section, _, _ in headed}


def uncovered(items: Sequence[GoldenItem], log: Sequence[str]) -> list[str]:
    """The queries of a log that no item is like."""
    queries = [plain(item.query) for item in items]
    pairs = alike_texts([plain(one) for one in log], queries, fuzz.token_set_ratio, _COVERED)
    covered = {at for at, _ in pairs}
    return [query for at, query in enumerate(log) if at not in covered]
