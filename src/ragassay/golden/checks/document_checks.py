"""What a golden set should know about its documents: what changed, and which are nearly alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

from ragassay.base.counts import either, few, grouped, plural
from ragassay.golden.checks.golden_findings import Finding
from ragassay.golden.checks.golden_groups import plain
from ragassay.golden.documents import COPY, Document
from ragassay.golden.golden_folder import DOCUMENTS, MANIFEST, GoldenSet
from ragassay.texts import sentences

_ALIKE = 0.8
"""Share of equal sentences from which two documents are told."""
_FEWEST = 3
"""Equal sentences of documents that are told: of shorter ones a heading may be most."""
_HOLDERS = 20
"""Documents with one sentence that are all compared with each other."""


def about_documents(golden: GoldenSet, documents: Mapping[str, Document]) -> Iterator[Finding]:
    """What changed in the documents since the spans were made, and which are nearly alike."""
    recorded = golden.known_documents()
    for name, one in documents.items():
        if name not in recorded:
            if recorded:
                sentence = f"the document {name} was added after the spans were made"
                yield Finding(f"{sentence}: it may answer what is unanswerable")
        elif recorded[name] != one.sha256:
            sentence = f"the document {name} was edited after its spans were made"
            yield Finding(f"{sentence}: run 'ragassay golden anchor'")
    for name in recorded.keys() - documents.keys():
        yield Finding(f"the document {name} is gone", severity="error")
    for (then, now), names in golden.read_otherwise(documents).items():
        of = f" (of {plural(len(names), 'document')} like it)" if len(names) > 1 else ""
        sentence = f"the document {names[0]} was read by {then}, and now is by {now}{of}"
        yield Finding(f"{sentence}: its text may differ. Run 'ragassay golden anchor'")
    readable = golden.readable_again(documents)
    if readable:
        n = plural(len(readable), "document")
        it = either(len(readable), "it", "them")
        sentence = (
            f"{n} left out as unreadable can be read now ({few([one.path for one in readable])})"
        )
        yield Finding(f"{sentence}: 'ragassay golden anchor {golden.folder}' takes {it} in")
    again = {one.path for one in readable}
    unreadable = [
        name
        for name, why in golden.left_out.items()
        if name not in again and not why.startswith(COPY)
    ]
    if unreadable:
        sentence = f"{plural(len(unreadable), 'document')} left out, as they cannot be taken"
        why = "what stands there may answer what is unanswerable"
        yield Finding(f"{sentence} ({few(unreadable)}): {why}")
    if documents and not recorded:
        sentence = (
            f"{MANIFEST} lists no documents, so that nobody can tell whether they were edited"
        )
        yield Finding(f"{sentence}: 'ragassay golden anchor' writes it")
    own = golden.folder / DOCUMENTS
    elsewhere = golden.documents_in
    if own.is_dir() and elsewhere is not None and own.resolve() != elsewhere.resolve():
        sentence = f"{own} is not used: {MANIFEST} says that the documents are in {elsewhere}"
        yield Finding(sentence)
    for pair in nearly_alike(documents):
        yield Finding(f"{pair}: a passage of the one that holds no gold may be as right")


@dataclass(frozen=True)
class Alike:
    """Two documents of which most sentences are equal.

    Attributes:
        first: id of a document.
        second: id of the other one.
        share: of their sentences that both hold, 0 to 1.
    """

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
    sentences = {name: _sentences(one.text) for name, one in documents.items()}
    holders = grouped((sentence, name) for name, held in sentences.items() for sentence in held)
    pairs: set[tuple[str, str]] = set()
    for names in holders.values():
        # Of a sentence that stands everywhere each document is compared with the next one only.
        pairs.update(combinations(names, 2) if len(names) <= _HOLDERS else pairwise(names))
    alike = []
    for first, second in pairs:
        one, other = sentences[first], sentences[second]
        n_common = (one & other).total()
        share = 2 * n_common / (one.total() + other.total())
        if share >= _ALIKE and n_common >= _FEWEST:
            alike.append(Alike(first, second, share))
    return sorted(alike, key=lambda one: (-one.share, one.first, one.second))


def _sentences(text: str) -> Counter[int]:
    """Hashes of the sentences and headings of a text, with how often each stands there."""
    words = (plain(text[slice(*span)]) for span in sentences(text))
    return Counter(hash(one) for one in words if one)
