"""Reads the records of a file that is to be a golden set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragassay.base.counts import few
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.sample import Answerability, Identity, Sample
from ragassay.formats import Columns, Mapper, field_values, folded
from ragassay.formats.records.aliases import FIELD_OF
from ragassay.formats.records.column_plans import FieldKeys
from ragassay.golden.golden_item import negatives_in, tags_in

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

_OF_SYSTEMS = {
    "references": ("said", "what is expected"),
    "gold": ("retrieved", "where the answer stands"),
}
"""For a field of an item: what a system did to give what may be meant by it, and what that is."""


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
        self._other_columns: dict[str, None] = {}
        self.places: dict[Identity, tuple[Path, int]] = {}
        self.own: dict[Identity, dict[str, Any]] = {}
        self._keys: Mapping[str, str] = {}
        self._by_systems: dict[str, dict[Identity, tuple[str, int]]] = {
            field: {} for field in _OF_SYSTEMS
        }
        self._known_columns: set[str] = set()

    def sample(
        self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any] | None = None
    ) -> Sample:
        """The sample of a record without the fields of an item. Arguments: as of the base class."""
        try:
            own, rest = self._divided(self._with_span(self._renamed(record), line))
        except InputError as error:
            raise error.at(path=self.path, line=line) from None
        sample = super().sample(rest, line, beside)
        if self.cells:
            # A cell without text says nothing.
            empty = {key for key, value in rest.items() if value is None}
            metadata = {key: one for key, one in sample.metadata.items() if key not in empty}
            sample = replace(sample, metadata=metadata)
        self.own[sample.identity] = own
        if sample.answer is not None and (key := self._keys.get("answer")) is not None:
            self._by_systems["references"][sample.identity] = key, line
        if sample.passages and (key := self._keys.get("passages")) in rest:
            self._by_systems["gold"][sample.identity] = str(key), line
        return sample

    def plan(self, record: Mapping[str, Any], chosen: Mapping[str, str]) -> FieldKeys:
        """Where the fields of a record are; these are kept. Arguments: as of the base class."""
        fields = super().plan(record, chosen)
        self._keys = fields.keys
        if self.cells:
            others = (name for name in fields.rest if folded(name) not in _OWN)
            self._other_columns.update(dict.fromkeys(others))
        return fields

    def tell_other_columns(self) -> None:
        """Notes the columns of tables that hold no field."""
        if self._other_columns:
            self.note(
                f"tables with columns that hold no field ({few(list(self._other_columns))})",
                "They are metadata. If one holds a field, say so: --columns FIELD=COLUMN.",
            )

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

    def tell_what_systems_did(self, samples: Sequence[Sample]) -> None:
        """Notes answers of queries without a reference, and passages of queries without gold: they
        may be what is expected."""
        complete = {("gold", one.id) for one in samples if one.gold is not None}
        for one in samples:
            expects_none = one.answerability is Answerability.UNANSWERABLE
            if one.references or one.reference_groups or expects_none:
                complete.add(("references", one.id))
        for field, (did, meant) in _OF_SYSTEMS.items():
            for (name, *_), (key, line) in self._by_systems[field].items():
                if (field, name) not in complete:
                    self.note(
                        f"records without {field} that have a field {key!r}",
                        f"It is read as what a system {did}, which no golden set holds. If it is "
                        f"{meant}: --columns {field}={key}.",
                        line,
                    )

    def _with_span(self, record: Mapping[str, Any], line: int) -> Mapping[str, Any]:
        """The record with gold spans in place of the columns that say where they stand: one, or one
        for each text of a list."""
        keys = {part: key for key in record if (part := _SPAN_COLUMNS.get(folded(key)))}
        values = {part: record[key] for part, key in keys.items() if record[key] not in (None, "")}
        if "gold" in self.columns or not values.keys() & {"document", "text"}:
            return record
        if any(FIELD_OF.get(folded(key)) == "gold" and record[key] for key in record):
            self.note(
                f"records with gold and {', '.join(map(repr, keys.values()))}",
                "The gold is read, and these columns are metadata.",
                line,
            )
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
