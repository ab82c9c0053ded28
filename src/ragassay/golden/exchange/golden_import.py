"""From the records of a file to items of a golden set, with gold at its place in the documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay import formats
from ragassay.base.counts import few, grouped
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.sample import GoldPassage, Identity, Sample
from ragassay.formats import Columns, Mapper, folded
from ragassay.formats.records import field_values
from ragassay.formats.records.field_names import FIELD_OF
from ragassay.golden.alignment.text_finding import MOST_SIGHTED, TextFinder
from ragassay.golden.documents import Document, names_of, one_error, text_at
from ragassay.golden.golden_item import UNPLACED, GoldenItem, negatives_in, tags_in, wrong_record

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
    """

    item: str
    file: Path
    line: int | None
    number: int
    said: GoldPassage
    gold: GoldPassage | None = None
    reason: str = ""

    @property
    def where(self) -> str:
        """Item, file, line and field, as messages name them."""
        line = "" if self.line is None else f", line {self.line}"
        return f"{self.item} ({self.file.name}{line}, field 'gold.{self.number}')"

    def to_record(self) -> dict[str, Any]:
        """What provenance keeps of a passage without a place."""
        parts = {name: getattr(self.said, name) for name in ("text", "document", "id", "grade")}
        return {name: value for name, value in parts.items() if value} | {"reason": self.reason}


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
    stands, if that is so once (see `TextFinder`); gold with a place and no text has the text that
    stands there. Gold that has no place is kept in the item's provenance (see `unplaced`).

    Args:
        accept: whether items count as accepted that the file neither accepts nor rejects.
        columns: field -> column of the file, for names that are not known.
    """
    name = formats.opening.checked_encoding(encoding)
    mapper = ItemMapper(path, columns, name)
    files = [(formats.detect(one, name), one) for one in formats.files_of(path)]
    samples = list(mapper.of_files(files))
    if not samples:
        raise mapper.nothing_known or InputError("there are no records", path=path)
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
    return replace(one, gold=gold)


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


_TEXTS = (
    *("type", "complexity", "style", "language", "source", "author", "reviewer"),
    *("origin", "verified_on", "status"),
)
_WORDS = ("origin", "status")
"""Fields of an item that are texts, and those among them that are one of a few words."""

_SPAN_COLUMNS = {f"gold_{part}": part for part in ("document", "start", "end", "text")}
"""Columns that together are one gold span."""

_OWN = (*_TEXTS, "tags", "provenance", *_SPAN_COLUMNS)
"""Fields of an item that a user can name a column for, and that no sample has."""


class ItemMapper(Mapper):
    """Keeps beside each sample the line, and the fields that only an item of a golden set has.

    Attributes:
        places: file and line of each sample.
        own: what each record says in fields of a golden set.
    """

    def __init__(self, path: Path, columns: Columns | None, encoding: str | None) -> None:
        of_samples = dict(columns or {})
        self._own_columns = {
            folded(name): [one] if isinstance(one := of_samples.pop(name), str) else list(one)
            for name in list(of_samples)
            if folded(name) in _OWN
        }
        try:
            super().__init__(path, queries_alone=True, columns=of_samples, encoding=encoding)
        except UsageError as error:
            raise UsageError(f"{error} Of golden sets also: {', '.join(_OWN)}.") from None
        self.places: dict[Identity, tuple[Path, int]] = {}
        self.own: dict[Identity, dict[str, Any]] = {}
        self._known_columns: set[str] = set()

    def sample(
        self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any] | None = None
    ) -> Sample:
        """The sample of a record without the fields of an item. Arguments: as of the base class."""
        try:
            own, rest = self._divided(self._with_span(self._renamed(record)))
        except InputError as error:
            raise error.at(path=self.path, line=line) from None
        sample = super().sample(rest, line, beside)
        if self.cells:
            # A cell without text says nothing.
            empty = {key for key, value in rest.items() if value is None}
            metadata = {key: one for key, one in sample.metadata.items() if key not in empty}
            sample = replace(sample, metadata=metadata)
        self.own[sample.identity] = own
        return sample

    def _renamed(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The record with the columns that the user named for fields of an item under these."""
        if not self._own_columns:
            return record
        chosen = {}
        for field, names in self._own_columns.items():
            present = [name for name in names if name in record]
            if not present and field not in self._known_columns:
                raise InputError(
                    f"there is no column {' or '.join(map(repr, names))} (wanted as {field})",
                    field=names[0],
                    hint=f"{did_you_mean(names[0], record)} Found: {', '.join(record)}.".strip(),
                )
            self._known_columns.add(field)
            if present:
                chosen[present[0]] = field
        return {
            chosen.get(key, key): one
            for key, one in record.items()
            if key in chosen or folded(key) not in chosen.values()
        }

    def _with_span(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The record with gold spans in place of the columns that say where they stand: one, or one
        for each text of a list."""
        keys = {part: key for key in record if (part := _SPAN_COLUMNS.get(folded(key)))}
        values = {part: record[key] for part, key in keys.items() if record[key] not in (None, "")}
        if "gold" in self.columns or not values.keys() & {"document", "text"}:
            return record
        if any(FIELD_OF.get(folded(key)) == "gold" and record[key] for key in record):
            return record
        read = {
            part: field_values.unpack(value, keys[part]) if self.cells else value
            for part, value in values.items()
        }
        texts = read.get("text")
        n = len(texts) if isinstance(texts, list) else 1
        spans = []
        for number in range(n):
            # A value that is no list, such as a document, is that of all texts.
            span = {
                part: value[number] if isinstance(value, list) and len(value) == n else value
                for part, value in (read if isinstance(texts, list) else values).items()
            }
            for part in {"start", "end"} & span.keys():
                span[part] = field_values.whole_number(span[part], keys[part])
            spans.append(span)
        without = {
            key: value
            for key, value in record.items()
            if key not in keys.values() and FIELD_OF.get(folded(key)) != "gold"
        }
        return {**without, "gold": spans}

    def _divided(self, record: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a record says in fields that only an item has, and the rest of it."""
        own: dict[str, Any] = {}
        rest = {}
        for key, value in record.items():
            name = folded(key)
            is_negatives = self.columns.field_of(key) == "negative_references"
            is_list = name in ("tags", "provenance") or is_negatives
            read = field_values.unpack(value, key) if self.cells and is_list else value
            if is_negatives:
                rest[key] = value
                if self.cells and isinstance(read, str):
                    read = negatives_in(read)
                    rest[key] = [one["text"] for one in read]
                if isinstance(read, list) and any(isinstance(one, dict) for one in read):
                    own["negative_references"] = [
                        {part: one[part] for part in ("kind", "by") if one.get(part)}
                        if isinstance(one, dict)
                        else {}
                        for one in read
                    ]
            elif name in (*_TEXTS, "tags", "provenance") and value in (None, ""):
                continue
            elif name in _TEXTS and isinstance(value, str | int | float):
                text = str(value).strip()
                own[name] = text.casefold() if name in _WORDS else text
            elif name == "tags" and isinstance(read, list | str):
                own[name] = tags_in(read) if isinstance(read, str) else list(map(str, read))
            elif name == "provenance" and isinstance(read, dict):
                own[name] = read
            else:
                rest[key] = value
        return own, rest

    def claim(self, sample: Sample, line: int) -> None:
        """Keeps the place. Arguments: as of the base class."""
        super().claim(sample, line)
        self.places[sample.identity] = (self.path or Path(), line)
