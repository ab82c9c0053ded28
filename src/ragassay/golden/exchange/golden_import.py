"""From the records of a file to items of a golden set, with gold at its place in the documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay import formats
from ragassay.base.counts import few, grouped
from ragassay.base.errors import InputError
from ragassay.base.sample import GoldPassage, Identity, Sample
from ragassay.formats import Columns
from ragassay.golden.alignment.text_finding import MOST_SIGHTED, Likeness, TextFinder
from ragassay.golden.documents import Document, names_of, one_error, text_at
from ragassay.golden.exchange.item_mapper import ItemMapper
from ragassay.golden.golden_item import UNPLACED, GoldenItem, wrong_record

_FACTS = (
    *("query", "history", "references", "reference_groups", "negative_references", "gold"),
    "answerability",
)
"""What a sample says about its query, whoever answered it."""


@dataclass(frozen=True)
class Placing:
    """What became of a gold passage of the file.

    Attributes:
        number: of the gold passages of its record, from 0.
        gold: at its place; ``None`` where it has none.
        likeness: of the text in the document: ``exact`` also where the file gives the place.
        distance: edits over characters between the text of the file and that of the document.
    """

    item: str
    file: Path
    line: int | None
    number: int
    said: GoldPassage
    gold: GoldPassage | None = None
    likeness: Likeness = "exact"
    distance: float = 0.0
    reason: str = ""

    @property
    def where(self) -> str:
        """Item, file, line and field, as messages name them."""
        line = "" if self.line is None else f", line {self.line}"
        return f"{self.item} ({self.file.name}{line}, field 'gold.{self.number}')"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of notes about how it was placed."""
        if self.gold is None:
            return ("gold_left_out",)
        is_moved = self.said.start not in (None, self.gold.start)
        moved = ("gold_moved",) if is_moved else ()
        filled = () if self.said.text else ("gold_filled",)
        return (*moved, *filled, *_FOUND.get(self.likeness, ()))

    def to_record(self) -> dict[str, Any]:
        """What provenance keeps of a passage without a place."""
        parts = {name: getattr(self.said, name) for name in ("text", "document", "id", "grade")}
        return {name: value for name, value in parts.items() if value} | {"reason": self.reason}


_FOUND: Mapping[Likeness, tuple[str, ...]] = {
    "but for white space": ("gold_spaced",),
    "but for markup": ("gold_marked_up",),
    "nearly": ("gold_nearly",),
}


@dataclass(frozen=True)
class Imported:
    """The items of a file."""

    items: list[GoldenItem]
    n_records: int
    gold: list[Placing]


def imported(
    path: Path,
    documents: Mapping[str, Document],
    *,
    accept: bool = False,
    columns: Columns | None = None,
    encoding: str | None = None,
) -> Imported:
    """The items of a file: one for each query id, because a file may hold the answers of several
    systems, and repeats, to each.

    What only some of a query's records say counts for all. What belongs to answers is left out:
    metadata in which records differ. Gold without a place, or at a wrong one, is put where its text
    stands, if that is so once: exactly, else whatever the white space, else whatever the markup,
    else nearly (see `TextFinder`). Gold with a place and no text has the text that stands there.
    Gold that has no place is kept in the item's provenance (see `unplaced`).

    Args:
        accept: whether items count as accepted that the file neither accepts nor rejects.
        columns: field -> column of the file, for names that are not known.
    """
    name = formats.encodings.checked(encoding)
    mapper = ItemMapper(path, columns, name)
    files = [(formats.detect(one, name), one) for one in formats.files_of(path)]
    samples = list(mapper.of_files(files))
    if not samples:
        raise mapper.nothing_known or InputError("there are no records", path=path)
    mapper.tell_what_systems_did(samples)
    mapper.tell_other_columns()
    mapper.finish(path)
    items: list[GoldenItem] = []
    placings: list[Placing] = []
    wrong: list[InputError] = []
    finder, names = TextFinder(documents), names_of(documents)
    for sample, own in _one_a_query(samples, mapper.own, path):
        file, line = mapper.places.get(sample.identity, (path, None))
        of_item = []
        for number, one in enumerate(sample.gold or ()):
            try:
                said = replace(one, document=names.one(one.document) or one.document)
            except InputError as error:
                wrong.append(error.but(field=f"gold.{number}.document").at(path=file, line=line))
                continue
            of_item.append(_placed(Placing(sample.id, file, line, number, said), documents, finder))
        placings += of_item
        gold = tuple(one.gold for one in of_item if one.gold is not None)
        lost = [one for one in of_item if one.gold is None]
        wrong += [_misplaced(one, documents) for one in lost if one.said.start is not None]
        # Gold without any place is unknown; an empty tuple would mean that nothing is relevant.
        is_unknown = sample.gold is None or (bool(lost) and not gold)
        if lost:
            unplaced = [one.to_record() for one in lost]
            own["provenance"] = {**own.get("provenance", {}), UNPLACED: unplaced}
        try:
            item = GoldenItem.of_sample(replace(sample, gold=None if is_unknown else gold), own)
        except ValidationError as error:
            hint = "Mend it in the file, or rename a field that means something else."
            raise wrong_record(error, file, line).but(hint=hint) from error
        if item.status == "draft" and accept:
            item.status = "accepted"
        items.append(item)
    if wrong:
        raise one_error(wrong, path, "gold passages do not stand where they say")
    return Imported(items, len(samples), placings)


def _placed(one: Placing, documents: Mapping[str, Document], finder: TextFinder) -> Placing:
    wanted, here = one.said, text_at(documents, one.said)
    is_complete = len(here) == (wanted.end or 0) - (wanted.start or 0)
    if not wanted.text:
        has_text = is_complete and here.strip()
        gold = replace(wanted, text=here) if has_text else None
        return replace(one, gold=gold, reason="" if has_text else "it has no text")
    if is_complete and here == wanted.text:
        return replace(one, gold=wanted)
    among = f"in {wanted.document}" if wanted.document in documents else "in the documents"
    sighting = finder.find(wanted.text, wanted.document)
    if sighting is None:
        return replace(one, reason=f"the text stands nowhere {among}")
    if len(sighting.places) > 1:
        likeness = "" if sighting.likeness == "exact" else f" ({sighting.likeness})"
        places = few([f"{name}:{start}" for name, start, _ in sighting.places])
        n = len(sighting.places)
        count = f"{n} places or more" if n == MOST_SIGHTED else f"{n} places"
        return replace(one, reason=f"the text{likeness} stands at {count} {among}: {places}")
    [(name, start, end)] = sighting.places
    text = documents[name].text[start:end]
    gold = replace(wanted, document=name, start=start, end=end, text=text)
    return replace(one, gold=gold, likeness=sighting.likeness, distance=sighting.distance)


def _misplaced(one: Placing, documents: Mapping[str, Document]) -> InputError:
    gold = one.said
    here = documents.get(gold.document or "")
    place = f"characters {gold.start} to {gold.end or 'an end not given'} of {gold.document}"
    if here is None:
        problem = f"there is no document {gold.document!r}"
    elif (gold.end or 0) > len(here.text):
        problem = f"{place} do not exist: the document has {len(here.text):,}"
    elif not gold.text:
        problem = f"{place} hold no text"
    else:
        problem = f"{gold.text!r} is not what stands at {place}"
    reason = one.reason if gold.text else "the gold gives no text that could be found instead"
    return InputError(
        f"{problem}, and {reason}",
        path=one.file,
        line=one.line,
        field=f"gold.{one.number}",
        hint="Give the text, or its place in the documents as they are now; leave gold out that is "
        "not there any more.",
    )


def _one_a_query(
    samples: Sequence[Sample], own: Mapping[Identity, Mapping[str, Any]], path: Path
) -> Iterator[tuple[Sample, dict[str, Any]]]:
    """One sample for each id, with what its records say in fields of an item."""
    numbered = grouped((one.id, (number, one)) for number, one in enumerate(samples, start=1))
    for records in numbered.values():
        said = [own.get(one.identity, {}) for _, one in records]
        facts: dict[str, Any] = {}
        for name in (*_FACTS, "status"):
            values = [
                (f"record {number}{_of(one)}", value)
                for (number, one), of_item in zip(records, said, strict=True)
                for value in [of_item.get(name) if name == "status" else getattr(one, name)]
                # Gold that is empty says that nothing is relevant.
                if value is not None and (name == "gold" or value not in ("", ()))
            ]
            for place, value in values:
                if value != values[0][1]:
                    raise InputError(
                        f"{values[0][0]} and {place} have the id {records[0][1].id!r}, and their "
                        "values differ",
                        path=path,
                        field=name,
                        hint="A golden set holds one item for each id: let the records agree, or "
                        "give each query an id of its own.",
                    )
            if values and name != "status":
                facts[name] = values[0][1]
        facts["metadata"] = _shared([one.metadata for _, one in records])
        yield replace(records[0][1], **facts), _shared(said)


def _shared(mappings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The keys for which all mappings that have them hold the same value."""
    return {
        key: value
        for one in mappings
        for key, value in one.items()
        if all(other.get(key, value) == value for other in mappings)
    }


def _of(sample: Sample) -> str:
    of = [f"system {sample.system!r}"] * bool(sample.system)
    of += [f"repeat {sample.repeat}"] * bool(sample.repeat)
    return f" ({', '.join(of)})" if of else ""
