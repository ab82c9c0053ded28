"""From the records of a file to items of a golden set, with gold at its place in the documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay import formats
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.printable import few, grouped
from ragassay.base.sample import GoldPassage, Identity, Sample
from ragassay.formats import Columns, Mapper, folded
from ragassay.formats.records import field_values
from ragassay.formats.records.field_names import FIELD_OF
from ragassay.golden.documents import Document, names_of, one_error, text_at
from ragassay.golden.golden_item import UNPLACED, GoldenItem, negatives_in, tags_in, wrong_record
from ragassay.golden.text_finding import MOST_SIGHTED, TextFinder

_FACTS = (
    *("query", "history", "references", "reference_groups", "negative_references", "gold"),
    "answerability",
)
"""What a sample says about its query, whoever answered it."""


@dataclass(frozen=True)
class Placing:
    """What became of a gold passage, by its ``number`` in its record: at its place, or the
    ``reason`` why it has none."""

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

    def error(self, documents: Mapping[str, Document]) -> InputError:
        """That the passage is not where the file says."""
        place = f"characters {self.said.start} to {self.said.end} of {self.said.document}"
        here = documents.get(self.said.document or "")
        if here is None:
            problem = f"there is no document {self.said.document!r}"
        elif (self.said.end or 0) > len(here.text):
            problem = f"{place} do not exist: the document has {len(here.text):,}"
        else:
            problem = f"{self.said.text!r} is not what {place} hold"
        return InputError(
            f"{problem}, and {self.reason}",
            path=self.file,
            line=self.line,
            field=f"gold.{self.number}",
            hint="Give the text, or its place in the documents as they are now.",
        )


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
    """The items of a file: one for each query id, whatever systems and repeats answer it. Gold is
    put where its text is; what has no place is kept in the item's provenance (see `unplaced`)."""
    name = formats.opening.checked_encoding(encoding)
    mapper = ItemMapper(path, columns, name)
    files = [(formats.detect(element, name), element) for element in formats.files_of(path)]
    samples = list(mapper.of_files(files))
    if not samples:
        raise mapper.nothing_known or InputError("there are no records", path=path)
    mapper.finish(path)
    items: list[GoldenItem] = []
    placings: list[Placing] = []
    wrong: list[InputError] = []
    finder, names = TextFinder(documents), names_of(documents)
    for sample, own in _one_a_query(samples, mapper.own, path):
        own_path, line = mapper.places.get(hash(sample.identity), (path, None))
        file, of_item = own_path or path, []
        for number, passage in enumerate(sample.gold or ()):
            try:
                said = replace(passage, document=names.one(passage.document) or passage.document)
            except InputError as error:
                wrong.append(error.but(field=f"gold.{number}.document").at(path=file, line=line))
                continue
            of_item.append(_placed(Placing(sample.id, file, line, number, said), documents, finder))
        placings += of_item
        gold = tuple(placing.gold for placing in of_item if placing.gold is not None)
        lost = [placing for placing in of_item if placing.gold is None]
        wrong += [placing.error(documents) for placing in lost if placing.said.start is not None]
        # Gold without any place is unknown; an empty tuple would mean that nothing is relevant.
        is_unknown = sample.gold is None or (bool(lost) and not gold)
        if lost:
            unplaced = [placing.to_record() for placing in lost]
            own["provenance"] = {**own.get("provenance", {}), UNPLACED: unplaced}
        try:
            item = GoldenItem.of_sample(replace(sample, gold=None if is_unknown else gold), own)
        except ValidationError as error:
            hint = "Fix it in the file, or rename a field that means something else."
            raise wrong_record(error, file, line).but(hint=hint) from error
        if item.status == "draft" and accept:
            item.status = "accepted"
        items.append(item)
    if wrong:
        raise one_error(wrong, path, "gold passages are not at their stated places")
    return Imported(items, len(samples), placings)


def _placed(placing: Placing, documents: Mapping[str, Document], finder: TextFinder) -> Placing:
    wanted, here = placing.said, text_at(documents, placing.said)
    is_complete = len(here) == (wanted.end or 0) - (wanted.start or 0)
    if not wanted.text:
        has_text = is_complete and here.strip()
        gold = replace(wanted, text=here) if has_text else None
        return replace(placing, gold=gold, reason="" if has_text else "it has no text")
    if is_complete and here == wanted.text:
        return replace(placing, gold=wanted)
    among = f"in {wanted.document}" if wanted.document in documents else "in the documents"
    sighting = finder.find(wanted.text, wanted.document)
    if sighting is None:
        return replace(placing, reason=f"the text does not occur {among}")
    if len(sighting.places) > 1:
        likeness = "" if sighting.likeness == "exact" else f" ({sighting.likeness})"
        places = few([f"{name}:{start}" for name, start, _ in sighting.places])
        n = len(sighting.places)
        count = f"{n} places or more" if n == MOST_SIGHTED else f"{n} places"
        return replace(placing, reason=f"the text{likeness} is at {count} {among}: {places}")
    [(name, start, end)] = sighting.places
    text = documents[name].text[start:end]
    gold = replace(wanted, document=name, start=start, end=end, text=text)
    return replace(placing, gold=gold)


def _one_a_query(
    samples: Sequence[Sample], own: Mapping[Identity, Mapping[str, Any]], path: Path
) -> Iterator[tuple[Sample, dict[str, Any]]]:
    """One sample for each id, with what its records say in fields of an item."""
    numbered = grouped((sample.id, (n, sample)) for n, sample in enumerate(samples, start=1))
    for name, records in numbered.items():
        said = [own.get(sample.identity, {}) for _, sample in records]
        facts: dict[str, Any] = {}
        for field in (*_FACTS, "status"):
            values = [
                (n, value)
                for (n, sample), of_item in zip(records, said, strict=True)
                for value in [of_item.get(field) if field == "status" else getattr(sample, field)]
                # Gold that is empty says that nothing is relevant.
                if value is not None and (field == "gold" or value not in ("", ()))
            ]
            other = next((n for n, value in values if value != values[0][1]), None)
            if other is not None:
                raise InputError(
                    f"records {values[0][0]} and {other} have the id {name!r}, and their values "
                    "differ",
                    path=path,
                    field=field,
                    hint="A golden set holds one item per id: make the records agree, or give "
                    "each query its own id.",
                )
            if values and field != "status":
                facts[field] = values[0][1]
        facts["metadata"] = _shared([sample.metadata for _, sample in records])
        yield replace(records[0][1], **facts), _shared(said)


def _shared(mappings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The keys for which all mappings that have them hold the same value."""
    return {
        key: value
        for mapping in mappings
        for key, value in mapping.items()
        if all(other.get(key, value) == value for other in mappings)
    }


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
    """Keeps beside each sample the fields that only an item of a golden set has."""

    def __init__(self, path: Path, columns: Columns | None, encoding: str | None) -> None:
        self._fields: dict[str, str] = {}
        """By column the field of an item that the user named it for."""
        self._seen: set[str] = set()
        others = dict(columns or {})
        for name in [name for name in others if folded(name) in _OWN]:
            named = others.pop(name)
            listed = [named] if isinstance(named, str) else named
            self._fields |= dict.fromkeys(listed, folded(name))
        try:
            super().__init__(path, queries_alone=True, columns=others, encoding=encoding)
        except UsageError as error:
            raise UsageError(f"{error} Of golden sets also: {', '.join(_OWN)}.") from None
        self.own: dict[Identity, dict[str, Any]] = {}

    def sample(
        self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any] | None = None
    ) -> Sample:
        """The sample of a record without the fields of an item. Arguments: as of the base class."""
        try:
            self._seen |= record.keys()
            if missing := [field for field in self._fields if field not in self._seen]:
                raise InputError(
                    f"there is no column {missing[0]!r} (wanted as {self._fields[missing[0]]})",
                    field=missing[0],
                    hint=f"{did_you_mean(missing[0], record)} Found: {', '.join(record)}.".strip(),
                )
            named = {self._fields[key]: record[key] for key in self._fields.keys() & record.keys()}
            others = {key: value for key, value in record.items() if key not in self._fields}
            own, rest = self._divided(self._with_span({**others, **named}))
        except InputError as error:
            raise error.at(path=self.path, line=line) from None
        sample = super().sample(rest, line, beside)
        if self.cells:
            # A cell without text says nothing.
            empty = {key for key, value in rest.items() if value is None}
            metadata = {key: value for key, value in sample.metadata.items() if key not in empty}
            sample = replace(sample, metadata=metadata)
        self.own[sample.identity] = own
        return sample

    def _with_span(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The record with a gold span in place of the columns that say where it is."""
        keys = {part: key for key in record if (part := _SPAN_COLUMNS.get(folded(key)))}
        span = {part: record[key] for part, key in keys.items() if record[key] not in (None, "")}
        gold = [key for key in record if FIELD_OF.get(folded(key)) == "gold"]
        is_given = "gold" in self.columns or any(record[key] for key in gold)
        if is_given or not span.keys() & {"document", "text"}:
            return record
        for part in {"start", "end"} & span.keys():
            span[part] = field_values.whole_number(span[part], keys[part])
        parts = {*keys.values(), *gold}
        return {**{key: value for key, value in record.items() if key not in parts}, "gold": [span]}

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
                    rest[key] = [item["text"] for item in read]
                if isinstance(read, list) and any(isinstance(item, dict) for item in read):
                    own["negative_references"] = [
                        {part: row[part] for part in ("kind", "by") if row.get(part)}
                        if isinstance(row, dict)
                        else {}
                        for row in read
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
