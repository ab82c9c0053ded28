"""What a golden set should know about its documents: what changed, and which are nearly alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from typing import NamedTuple

from ragassay.base.counts import grouped
from ragassay.golden.checks.golden_findings import Finding, finding
from ragassay.golden.checks.golden_groups import plain
from ragassay.golden.documents import COPY, Document
from ragassay.golden.golden_folder import DOCUMENTS, MANIFEST, GoldenSet
from ragassay.texts import sentences

_ALIKE = 0.8
"""Two documents with at least this share of equal sentences are reported."""
_FEWEST = 3
"""Fewest equal sentences of documents that are reported: a heading may be most of a short one."""
_HOLDERS = 20
"""Documents with one sentence that are all compared with each other."""


def about_documents(golden: GoldenSet, documents: Mapping[str, Document]) -> Iterator[Finding]:
    """What changed in the documents since the spans were made, and which are nearly alike."""
    recorded = golden.known_documents()
    for name, one in documents.items():
        if recorded and name not in recorded:
            yield finding("document_added", document=name)
        elif recorded.get(name, one.sha256) != one.sha256:
            yield finding("document_edited", document=name)
    for name in recorded.keys() - documents.keys():
        yield finding("document_gone", severity="error", document=name)
    for (then, now), names in golden.read_otherwise(documents).items():
        kind = "documents_read_otherwise" if len(names) > 1 else "document_read_otherwise"
        yield finding(kind, document=names[0], n=len(names), then=then, now=now)
    readable = [one.path for one in golden.readable_again(documents)]
    if readable:
        yield finding("readable_again", names=readable, folder=str(golden.folder))
    left_out = golden.left_out.items()
    unreadable = [
        name for name, why in left_out if name not in readable and not why.startswith(COPY)
    ]
    if unreadable:
        yield finding("unreadable", names=unreadable)
    if documents and not recorded:
        yield finding("documents_not_listed", manifest=MANIFEST)
    own, elsewhere = golden.folder / DOCUMENTS, golden.documents_in
    if own.is_dir() and elsewhere is not None and own.resolve() != elsewhere.resolve():
        yield finding("folder_not_used", own=str(own), manifest=MANIFEST, used=str(elsewhere))
    for pair in nearly_alike(documents):
        yield finding("nearly_alike", pair=str(pair))


class Alike(NamedTuple):
    """The ids of two documents, and the share of their sentences that both hold, 0 to 1."""

    first: str
    second: str
    share: float

    def __str__(self) -> str:
        return f"{self.first} and {self.second} have {self.share:.0%} of their sentences in common"


def nearly_alike(documents: Mapping[str, Document]) -> list[Alike]:
    """The pairs of documents of which most sentences are equal, the most alike first.

    The same sentence then has gold in one of the two only, and a passage with it from the other one
    counts as wrong.
    """
    held = {name: _sentences(one.text) for name, one in documents.items()}
    holders = grouped((sentence, name) for name, counts in held.items() for sentence in counts)
    pairs: set[tuple[str, str]] = set()
    for names in holders.values():
        # Of a sentence that stands everywhere each document is compared with the next one only.
        pairs.update(combinations(names, 2) if len(names) <= _HOLDERS else pairwise(names))
    alike = []
    for first, second in pairs:
        n_common = (held[first] & held[second]).total()
        share = 2 * n_common / (held[first].total() + held[second].total())
        if share >= _ALIKE and n_common >= _FEWEST:
            alike.append(Alike(first, second, share))
    return sorted(alike, key=lambda one: (-one.share, one.first, one.second))


def _sentences(text: str) -> Counter[int]:
    """Hashes of the sentences and headings of a text, with how often each stands there."""
    words = (plain(text[slice(*span)]) for span in sentences(text))
    return Counter(hash(one) for one in words if one)
