"""From the records of a file to the items of a golden set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ragassay import formats
from ragassay.base.errors import InputError
from ragassay.base.sample import Identity, Sample
from ragassay.formats import Columns
from ragassay.golden.alignment.text_finding import TextFinder
from ragassay.golden.documents import Document, names_of
from ragassay.golden.exchange.gold_placing import (
    Placing,
    joined_errors,
    misplaced_gold,
    placed,
    unplaced_record,
)
from ragassay.golden.exchange.item_mapper import ItemMapper
from ragassay.golden.golden_item import UNPLACED, GoldenItem, wrong_record

_FACTS = (
    *("query", "history", "references", "reference_groups", "negative_references", "gold"),
    "answerability",
)
"""What a sample says about its query, whoever answered it."""


@dataclass(frozen=True)
class Imported:
    """The items of a file.

    Attributes:
        items: one for each id.
        n_records: of the file.
        gold: what became of each gold passage.
    """

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
            of_item.append(placed(Placing(sample.id, file, line, number, said), documents, finder))
        placings += of_item
        gold = tuple(one.gold for one in of_item if one.gold is not None)
        lost = [one for one in of_item if one.gold is None]
        wrong += [misplaced_gold(one, documents) for one in lost if one.said.start is not None]
        # Gold without any place is unknown; an empty tuple would mean that nothing is relevant.
        is_unknown = sample.gold is None or (bool(lost) and not gold)
        if lost:
            unplaced = [unplaced_record(one) for one in lost]
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
        raise joined_errors(wrong, path)
    return Imported(items, len(samples), placings)


class _Record(NamedTuple):
    place: str
    sample: Sample
    own: Mapping[str, Any]

    def says(self, name: str) -> Any:
        """The record's value of a field; ``None`` where it has none.

        Gold that is empty says that nothing is relevant.
        """
        value = self.own.get(name) if name == "status" else getattr(self.sample, name)
        return None if value in ("", ()) and name != "gold" else value


def _one_a_query(
    samples: Sequence[Sample], own: Mapping[Identity, Mapping[str, Any]], path: Path
) -> Iterator[tuple[Sample, dict[str, Any]]]:
    """One sample for each id, with what its records say in fields of an item."""
    records: defaultdict[str, list[_Record]] = defaultdict(list)
    for number, one in enumerate(samples, start=1):
        records[one.id].append(
            _Record(f"record {number}{_of(one)}", one, own.get(one.identity, {}))
        )
    for of_query in records.values():
        yield _merged(of_query, path)


def _merged(records: Sequence[_Record], path: Path) -> tuple[Sample, dict[str, Any]]:
    first = records[0].sample
    facts = {}
    for name in (*_FACTS, "status"):
        values = [(one.place, value) for one in records if (value := one.says(name)) is not None]
        for place, value in values:
            if value != values[0][1]:
                raise InputError(
                    f"{values[0][0]} and {place} have the id {first.id!r}, and their values differ",
                    path=path,
                    field=name,
                    hint="A golden set holds one item for each id: let the records agree, or give "
                    "each query an id of its own.",
                )
        if values and name != "status":
            facts[name] = values[0][1]
    metadata = _shared([one.sample.metadata for one in records])
    return replace(first, **facts, metadata=metadata), _shared([one.own for one in records])


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
