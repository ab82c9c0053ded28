"""Joins a golden set to the answers of a system, by the query's id."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay.base.counts import either, few, plural, share
from ragassay.base.errors import InputError, warn_user
from ragassay.base.sample import GoldPassage, Sample
from ragassay.golden.alignment.chunk_alignment import ChunkAligner
from ragassay.golden.documents import Document, text_at
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem

_SHOWN = 60
"""Characters of a query that a warning shows."""
_FIT = 2.0
"""How many times as long as a gold span a passage may be, or the other way round, to fit it."""


def joined(samples: Iterable[Sample], folder: Path, *, drafts: bool = False) -> Iterator[Sample]:
    """The samples with references, gold spans and labels of a golden set.

    Accepted items count. Passages without offsets are found in the documents. Gold whose text does
    not stand where it says has no offsets, so that nothing is compared with another text. A sample
    whose query the set lacks is left out, and counted; so are drafts.

    Args:
        samples: of one or more systems.
        folder: of the golden set.
        drafts: whether items that nobody accepted yet count, too.

    Raises:
        InputError: no golden set, no accepted item, no sample belongs to it, or a passage names a
            document that may be several of its documents.
    """
    golden = GoldenSet.open(folder)
    items = golden.with_status("accepted", "draft") if drafts else golden.with_status("accepted")
    if not items:
        raise InputError(
            f"none of its {plural(len(golden.items), 'item')} is accepted",
            path=folder,
            hint="Accept some (ragassay golden review), or take drafts too: --golden-drafts.",
        )
    queries = {item.id: item.to_sample() for item in items}
    undecided = {item.id for item in golden.with_status("draft")} - queries.keys()
    aligner = None
    place = golden.documents_folder
    has_gold = any(one.gold for one in queries.values())
    if has_gold and not place.is_dir():
        warn_user(
            f"{place} is not there: passages cannot be found in the documents of {folder}, so only "
            "those with document, start and end count for metrics of spans and characters."
        )
    elif has_gold:
        documents = golden.documents()
        aligner = ChunkAligner(documents)
        for sentence in misplaced(golden, items, documents):
            warn_user(sentence)
        named = (item.to_sample() for item in items)  # by ids of documents, since these are read
        queries = {one.id: replace(one, gold=_placed(one.gold, documents)) for one in named}
    joined_ids: set[str] = set()
    others: list[str] = []
    sizes: list[int] = []
    n_left_out = n_undecided = n_unplaced = 0
    for sample in samples:
        item = queries.get(sample.id)
        if item is None:
            n_undecided += sample.id in undecided
            n_left_out += sample.id not in undecided
            continue
        joined_ids.add(sample.id)
        asked, wanted = sample.query_text, item.query_text
        if sample.query and _words(asked) != _words(wanted):
            others.append(f"{sample.id}: {asked[:_SHOWN]!r}, not {wanted[:_SHOWN]!r}")
        passages = sample.passages
        sizes += [len(passage.text) for passage in passages or () if passage.text]
        if aligner is not None and passages:
            try:
                passages = tuple(map(aligner.passage, passages))
            except InputError as error:
                problem = (
                    f"a passage of {sample.id!r} names a document of {folder}: {error.problem}"
                )
                raise error.but(problem=problem, field="passages.document") from error
            n_unplaced += bool(item.gold) and any(one.start is None for one in passages)
        yield replace(
            sample,
            query=sample.query or item.query,
            history=sample.history or item.history,
            references=item.references,
            reference_groups=(),
            negative_references=item.negative_references,
            gold=item.gold,
            answerability=item.answerability,
            language=item.language or sample.language,
            passages=passages,
            metadata={**sample.metadata, **item.metadata},
        )
    too = "or count drafts, too (ragassay run --golden-drafts)."
    if not joined_ids:
        review = f"Some ids are of drafts: review them (ragassay golden review {folder}), {too}"
        raise InputError(
            "no sample has the id of one of its items" + " that are accepted" * bool(n_undecided),
            path=folder,
            hint=review if n_undecided else "Ids join the two.",
        )
    if undecided:
        also = f", with {plural(n_undecided, 'sample')}" if n_undecided else ""
        warn_user(f"{drafts_left_out(folder, len(undecided), also)}, {too}")
    if others:
        ask = either(len(others), "asks", "ask")
        warn_user(
            f"{plural(len(others), 'sample')} {ask} something else than the item of {folder} with "
            f"the same id ({others[0]}). If the queries were edited, ask the system again; if the "
            "ids are of other queries, the scores mean nothing."
        )
    spans = [len(span.text or "") for item in queries.values() for span in item.gold or ()]
    if spans and sizes:
        gold_size, size = statistics.median(spans), statistics.median(sizes)
        if not 1 / _FIT <= size / gold_size <= _FIT:
            warn_user(
                f"The median gold span of {folder} has {gold_size:,.0f} characters and the median "
                f"passage {size:,.0f}: metrics that compare whole chunks (ChunkP ...) miss, those "
                "of spans and characters (SpanR, CharR ...) do not."
            )
    if n_left_out:
        warn_user(f"{plural(n_left_out, 'sample')} left out: {folder} has no item of this id.")
    if missing := len(queries) - len(joined_ids):
        warn_user(f"{plural(missing, 'item')} of {folder} without a sample.")
    if aligner is not None and (n := aligner.counts.not_found):
        left = f", so metrics of spans and characters leave {plural(n_unplaced, 'sample')} out"
        warn_user(
            f"{plural(n, 'passage')} not found in the documents of {folder}"
            f"{left if n_unplaced else ''}."
        )
    if aligner is not None and (n := aligner.counts.repeated):
        warn_user(
            f"{plural(n, 'passage')} {either(n, 'stands', 'stand')} at several places in the "
            f"documents of {folder}, and {either(n, 'says', 'say')} not at which: the first one "
            "was taken, so that recall may come out too low. Give passages document, start and end."
        )


def drafts_left_out(folder: Path, n: int, also: str = "") -> str:
    """A sentence without its end about drafts that do not count, and what to do."""
    return (
        f"{plural(n, 'draft')} of {folder} left out{also}: review {either(n, 'it', 'them')} "
        f"(ragassay golden review {folder})"
    )


def misplaced(
    golden: GoldenSet, items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> Iterator[str]:
    """Sentences about spans whose text does not stand where they say: `joined` takes their offsets
    away, so that metrics of spans and characters leave their queries out."""
    spans = [(item.id, span) for item in items for span in item.gold or ()]
    moved = [(name, one) for name, one in spans if text_at(documents, one) != one.text]
    if not moved:
        return
    # Where documents.json knows the documents as they are now, 'anchor' has left the span.
    listed = golden.known_documents()
    now = {name: one.sha256 for name, one in documents.items()}
    left = [
        name for name, one in moved if listed and listed.get(one.document) == now.get(one.document)
    ]
    queries = plural(len({name for name, _ in moved}), "query")
    unscored = f"metrics of spans and characters leave {queries} out"

    def do_not_stand(n: int) -> str:
        do, say = either(n, "does", "do"), either(n, "it says", "they say")
        spans_of_set = f"{share(n, len(spans), 'gold span')} of {golden.folder}"
        return f"{spans_of_set} {do} not stand where {say}"

    if edited := len(moved) - len(left):
        yield (
            f"{do_not_stand(edited)}: documents were edited, and {unscored}. Run 'ragassay golden "
            f"anchor {golden.folder}' first."
        )
    if left:
        yield (
            f"{do_not_stand(len(left))}, though documents.json lists the documents as they are "
            f"now, and {unscored} (of {few(list(dict.fromkeys(left)))}). 'ragassay golden anchor "
            f"{golden.folder}' says which it cannot find: mark their places on the page of "
            f"'ragassay golden review {golden.folder}', or reject the items."
        )


def _placed(
    gold: tuple[GoldPassage, ...] | None, documents: Mapping[str, Document]
) -> tuple[GoldPassage, ...] | None:
    """Gold without the offsets of what does not stand there."""
    return gold and tuple(
        one if text_at(documents, one) == one.text else replace(one, start=None, end=None)
        for one in gold
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
