"""Joins a golden set to the answers of a system, by the query's id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay.base.errors import InputError, warn_user
from ragassay.base.note import Note
from ragassay.base.printable import plural
from ragassay.base.sample import Passage, Sample
from ragassay.golden.documents import Document, text_at
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem
from ragassay.golden.golden_parts import plain
from ragassay.golden.text_finding import ChunkAligner

_SHOWN = 60
"""Characters of a query that a warning shows."""


def joined(samples: Iterable[Sample], folder: Path, *, drafts: bool = False) -> Iterator[Sample]:
    """The samples with references, gold spans and labels of a golden set.

    Accepted items count. Passages without offsets are found in the documents. Gold whose text is
    not where it says has no offsets, so that nothing is compared with another text. A sample
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
    items = golden.with_status(*(("accepted", "draft") if drafts else ("accepted",)))
    if not items:
        raise InputError(
            f"none of its {plural(len(golden.items), 'item')} is accepted",
            path=folder,
            hint="Accept some (ragassay golden review), or include drafts: --golden-drafts.",
        )
    join = _Join(golden, items)
    for sample in samples:
        item = join.queries.get(sample.id)
        if item is None:
            join.n["drafts" if sample.id in join.drafts else "no_item_of_this_id"] += 1
            continue
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
            passages=join.passages_of(sample, item),
            metadata={**sample.metadata, **item.metadata},
        )
    join.require_samples()
    join.warn(join.notes())


class _Join:
    """The items of a golden set as samples by id, the ids of drafts that do not count, and counts
    of samples that were joined to them."""

    def __init__(self, golden: GoldenSet, items: Sequence[GoldenItem]) -> None:
        self._folder = golden.folder
        self._aligner: ChunkAligner | None = None
        self.n: Counter[str] = Counter()
        self._joined: set[str] = set()
        self._others: list[str] = []
        documents: Mapping[str, Document] = {}
        if any(item.gold for item in items):
            place = golden.documents_folder
            if place.is_dir():
                documents = golden.documents()
                self._aligner = ChunkAligner(documents)
                self.warn(misplaced(golden, items, documents))
            else:
                self.warn([Note("documents_not_there", {"place": str(place)})])
        self.queries = {item.id: item.to_sample() for item in items}
        for name, query in self.queries.items():
            if query.gold and self._aligner is not None:
                # Gold without the offsets of what is not there.
                gold = tuple(
                    passage
                    if text_at(documents, passage) == passage.text
                    else replace(passage, start=None, end=None)
                    for passage in query.gold
                )
                self.queries[name] = replace(query, gold=gold)
        self.drafts = {item.id for item in golden.with_status("draft")} - self.queries.keys()

    def warn(self, notes: Iterable[Note]) -> None:
        for note in notes:
            warn_user(str(replace(note, counts={**note.counts, "folder": str(self._folder)})))

    def passages_of(self, sample: Sample, item: Sample) -> tuple[Passage, ...] | None:
        """The passages of a sample at their places in the documents; counts the sample."""
        self._joined.add(sample.id)
        asked, wanted = sample.query_text, item.query_text
        if sample.query and plain(asked) != plain(wanted):
            self._others.append(f"{sample.id}: {asked[:_SHOWN]!r}, not {wanted[:_SHOWN]!r}")
        passages = sample.passages
        if self._aligner is None or not passages:
            return passages
        try:
            passages = tuple(map(self._aligner.passage, passages))
        except InputError as error:
            name = f"a passage of {sample.id!r} names a document of {self._folder}"
            problem = f"{name}: {error.problem}"
            raise error.but(problem=problem, field="passages.document") from error
        self.n["unplaced"] += bool(item.gold) and any(passage.start is None for passage in passages)
        return passages

    def require_samples(self) -> None:
        """Raises where no sample was joined."""
        if not self._joined:
            drafts = "review them (ragassay golden review), or add --golden-drafts"
            raise InputError(
                "no sample has the id of one of its items",
                path=self._folder,
                hint=f"Some ids are of drafts: {drafts}." if self.n["drafts"] else "Ids join them.",
            )

    def notes(self) -> Iterator[Note]:
        """What a reader of the scores has to know."""
        n_drafts, n_unplaced = self.n["drafts"], self.n["unplaced"]
        if self.drafts:
            also = f", with {plural(n_drafts, 'sample')}" if n_drafts else ""
            yield Note("drafts_not_counted", {"n": len(self.drafts), "also": also})
        if self._others:
            yield Note("asks_otherwise", {"n": len(self._others), "first": self._others[0]})
        left = f", so metrics of spans and characters leave {plural(n_unplaced, 'sample')} out"
        counts = Counter[str]() if self._aligner is None else self._aligner.counts
        for kind, n in (
            ("no_item_of_this_id", self.n["no_item_of_this_id"]),
            ("items_without_sample", len(self.queries) - len(self._joined)),
            ("passages_not_found", counts["not_found"]),
            ("passages_repeated", counts["repeated"]),
        ):
            if n:
                yield Note(kind, {"n": n, "left": left * bool(n_unplaced)})


def misplaced(
    golden: GoldenSet, items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> Iterator[Note]:
    """A note about spans whose text is not where they say; their offsets do not count."""
    spans = [(item.id, span) for item in items for span in item.gold or ()]
    moved = [name for name, span in spans if text_at(documents, span) != span.text]
    if moved:
        names = tuple(dict.fromkeys(moved))
        counts = {"of": plural(len(spans), "gold span"), "queries": plural(len(names), "query")}
        yield Note(
            "spans_misplaced", {"n": len(moved), **counts, "folder": str(golden.folder)}, names
        )
