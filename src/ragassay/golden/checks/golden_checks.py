"""What is wrong with a golden set, or worth a look, before a system is judged by it; and what its
items cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz

from ragassay.golden.checks import item_checks, judged_checks
from ragassay.golden.checks.item_checks import CheckOptions, Finding, Findings, Look, clause
from ragassay.golden.checks.judged_checks import Blindness
from ragassay.golden.documents import Document
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem
from ragassay.golden.golden_parts import alike_texts, plain
from ragassay.judges.offline.words import n_words

CHECKS: Mapping[str, Callable[[Look], Findings]] = {
    "documents": item_checks.changed_documents,
    "spans": item_checks.misplaced_spans,
    "repeated": item_checks.repeated_texts,
    "leak": item_checks.leaks,
    "contradiction": item_checks.contradictions,
    "duplicate": item_checks.duplicates,
    "age": item_checks.ages,
    "support": judged_checks.support,
    "complete": judged_checks.complete,
    "answered": judged_checks.answered,
}
"""What finds something, by name; the words of what is found are among those of notes."""
_FIELDS = ("type", "complexity", "source", "language", "answerability", "origin", "status")
_COVERED = 60.0
"""How alike a query of a log and one of the set are, so that the set covers it, 0 to 100."""
_LENGTHS = ((5, "1 to 5 words"), (15, "6 to 15 words"), (float("inf"), "over 15 words"))


@dataclass
class Checked:
    """What the checks found.

    Attributes:
        coverage: for each property (``document``, ``type`` ...) the items of each value.
        uncovered: queries of the log that the set has nothing like; ``None`` without a log.
        skipped: checks that could not be made, in whole or in part, and why.
    """

    n_items: int
    findings: list[Finding]
    blindness: Blindness
    coverage: dict[str, dict[str, int]]
    uncovered: list[str] | None
    skipped: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        findings = [one.to_json() for one in self.findings]
        return {**vars(self), "findings": findings, **self.blindness.to_json()}


def check(
    golden: GoldenSet, options: CheckOptions | None = None, *, evaluate: Callable[..., Any]
) -> Checked:
    """Checks a golden set, by `ragassay.evaluate` where a judge is asked or metrics are computed.
    Rejected items are left out."""
    look = Look(golden, options or CheckOptions(), evaluate)
    findings = [one._replace(check=name) for name, find in CHECKS.items() for one in find(look)]
    tried, log = judged_checks.blindness_of(look), look.options.log
    untold = {"blindness": clause(*tried.untold)} if tried.untold else {}
    return Checked(
        len(look.items),
        findings,
        tried,
        coverage(look.items, look.documents),
        _uncovered(look.items, log) if log else None,
        judged_checks.not_checked(look) | untold,
    )


def coverage(
    items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> dict[str, dict[str, int]]:
    """The number of items by document, by section and by each value of some fields. A section is
    named by its document and the heading above it (of a PDF file without bookmarks: the page)."""
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
    counts: dict[str, int] = {}
    for name, document in documents.items():
        parts = [
            (f"{name}: {heading.title}", start, end)
            for heading, start, end in document.parts()
            if heading is not None and document.text[start:end].strip()
        ]
        if len(parts) < 2:
            continue
        found = Counter(
            section
            for item in items
            for section in {
                section
                for span in item.gold or ()
                for section, start, end in parts
                if span.document == name and span.start < end and start < span.end
            }
        )
        counts |= {section: found[section] for section, _, _ in parts}
    return counts


def _uncovered(items: Sequence[GoldenItem], log: Sequence[str]) -> list[str]:
    queries = [plain(item.query) for item in items]
    pairs = alike_texts([plain(one) for one in log], queries, fuzz.token_set_ratio, _COVERED)
    covered = {at for at, _ in pairs}
    return [query for at, query in enumerate(log) if at not in covered]
