"""From the records of a file to the items of a golden set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ragassay import formats
from ragassay.counts import few, plural
from ragassay.errors import InputError, UsageError, did_you_mean
from ragassay.formats import FIELD_OF, Columns, FieldKeys, Mapper, field_values, folded
from ragassay.golden.chunk_alignment import MOST_SIGHTED, Likeness, TextFinder
from ragassay.golden.documents import Document, fault_lines
from ragassay.golden.golden_item import (
    UNPLACED,
    GoldenItem,
    negatives_in,
    tags_in,
    wrong_record,
)
from ragassay.samples import Answerability, GoldPassage, Identity, Sample

_FACTS = (
    *("query", "history", "references", "reference_groups", "negative_references", "gold"),
    "answerability",
)
"""What a sample says about its query, whoever answered it."""

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


@dataclass(frozen=True)
class Placing:
    """What became of a gold passage of the file.

    Attributes:
        item: id of its item.
        where: file, line and field.
        gold: at its place; ``None`` where it has none.
        said: as the file gives it.
        likeness: of the text in the document: ``exact`` also where the file gives the place.
        distance: edits over characters between the text of the file and that of the document.
        reason: why it has no place.
    """

    item: str
    where: str
    said: GoldPassage
    gold: GoldPassage | None = None
    likeness: Likeness = "exact"
    distance: float = 0.0
    reason: str = ""

    @property
    def is_moved(self) -> bool:
        """Whether it was found at another place than the file says."""
        return self.gold is not None and self.said.start not in (None, self.gold.start)

    @property
    def is_filled(self) -> bool:
        """Whether its text is from the document, because the file gives its place alone."""
        return self.gold is not None and not self.said.text


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
        path: of a file of any format.
        documents: by id.
        accept: whether items count as accepted that the file neither accepts nor rejects.
        columns: field -> column of the file, for names that are not known.
        encoding: of its text, where it is not UTF-8.

    Raises:
        UsageError: ``columns`` names no field; there is no such encoding.
        InputError: the file or a record of it cannot be read; two records of a query ask or expect
            different things; a record has no query, or a value that the field of an item cannot
            have; gold does not stand where it says. With the line and the field.
    """
    name = formats.encodings.checked(encoding)
    mapper = _ItemMapper(path, columns, name)
    files = [(formats.detect(one, name), one) for one in formats.files_of(path)]
    samples = list(mapper.of_files(files))
    if not samples:
        raise mapper.nothing_known or InputError("there are no records", path=path)
    mapper.tell_answers(samples)
    mapper.tell_retrieved(samples)
    mapper.tell_other_columns()
    mapper.finish(path)
    items: list[GoldenItem] = []
    placings: list[Placing] = []
    wrong: list[InputError] = []
    finder = TextFinder(documents)
    for sample, own in _one_a_query(samples, mapper.own, path):
        file, line = mapper.places.get(sample.identity, (path, None))
        of_item = []
        for number, one in enumerate(sample.gold or ()):
            where = f"{file.name if line is None else f'{file.name}, line {line}'}, field"
            made = Placing(sample.id, f"{where} 'gold.{number}'", one)
            made = _placed(made, documents, finder)
            if made.gold is None and one.start is not None:
                wrong.append(_not_there(made, documents, file, line, number))
            of_item.append(made)
        placings += of_item
        gold = tuple(one.gold for one in of_item if one.gold is not None)
        lost = [_kept(one) for one in of_item if one.gold is None]
        # Where nothing could be taken, nobody said that nothing is relevant.
        is_lost = bool(sample.gold) and not gold
        kept = replace(sample, gold=None if is_lost or sample.gold is None else gold)
        if lost:
            own["provenance"] = {**own.get("provenance", {}), UNPLACED: lost}
        try:
            item = GoldenItem.of_sample(kept, own)
        except ValidationError as error:
            hint = "Mend it in the file, or rename a field that means something else."
            raise wrong_record(error, file, line).but(hint=hint) from error
        if item.status == "draft" and accept:
            item.status = "accepted"
        items.append(item)
    if wrong:
        raise _joined(wrong, path)
    return Imported(items, len(samples), placings)


class _ItemMapper(Mapper):
    """Keeps beside each sample the line, and the fields that only an item of a golden set has.

    Attributes:
        places: file and line of each sample.
        own: what each record says in fields of a golden set.
    """

    def __init__(self, path: Path, columns: Columns | None, encoding: str | None = None) -> None:
        given = dict(columns or {})
        self._own_columns = {
            folded(name): [one] if isinstance(one := given.pop(name), str) else list(one)
            for name in list(given)
            if folded(name) in _OWN
        }
        try:
            super().__init__(path, queries_alone=True, columns=given, encoding=encoding)
        except UsageError as error:
            raise UsageError(f"{error} Of golden sets also: {', '.join(_OWN)}.") from None
        self._other_columns: dict[str, None] = {}
        self.places: dict[Identity, tuple[Path, int]] = {}
        self.own: dict[Identity, dict[str, Any]] = {}
        self._answer_key: str | None = None
        self._answers: dict[Identity, tuple[str, int]] = {}
        self._passages_key: str | None = None
        self._retrieved: dict[Identity, tuple[str, int]] = {}
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
            said = {key: one for key, one in sample.metadata.items() if key not in empty}
            sample = replace(sample, metadata=said)
        self.own[sample.identity] = own
        if sample.answer is not None and self._answer_key is not None:
            self._answers[sample.identity] = self._answer_key, line
        if sample.passages and self._passages_key in rest:
            self._retrieved[sample.identity] = str(self._passages_key), line
        return sample

    def plan(self, record: Mapping[str, Any], chosen: Mapping[str, str]) -> FieldKeys:
        """Where the fields of a record are; which of them hold the answer and the passages is kept.
        Arguments: as of the base class."""
        found = super().plan(record, chosen)
        self._answer_key = found.keys.get("answer")
        self._passages_key = found.keys.get("passages")
        if self.cells:
            others = (name for name in found.rest if folded(name) not in _OWN)
            self._other_columns.update(dict.fromkeys(others))
        return found

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
            there = [name for name in names if name in record]
            if not there and field not in self._known_columns:
                raise InputError(
                    f"there is no column {' or '.join(map(repr, names))} (wanted as {field})",
                    field=names[0],
                    hint=f"{did_you_mean(names[0], record)} Found: {', '.join(record)}.".strip(),
                )
            self._known_columns.add(field)
            if there:
                chosen[there[0]] = field
        return {
            chosen.get(key, key): one
            for key, one in record.items()
            if key in chosen or folded(key) not in chosen.values()
        }

    def tell_answers(self, samples: Sequence[Sample]) -> None:
        """Notes answers of queries without a reference: they may be what is expected.

        Args:
            samples: of all records.
        """
        known = {one.id for one in samples if one.references or one.reference_groups}
        for sample in samples:
            key, line = self._answers.get(sample.identity, (None, None))
            expects_none = sample.answerability is Answerability.UNANSWERABLE
            if key is not None and sample.id not in known and not expects_none:
                flag = f"--columns references={key}"
                self.note(
                    f"records without references that have a field {key!r}",
                    "It is read as what a system said, which no golden set holds. If it is what is "
                    f"expected: {flag}.",
                    line,
                )

    def tell_retrieved(self, samples: Sequence[Sample]) -> None:
        """Notes passages of queries without gold: they may be where the answer stands.

        Args:
            samples: of all records.
        """
        known = {one.id for one in samples if one.gold is not None}
        for sample in samples:
            key, line = self._retrieved.get(sample.identity, (None, None))
            if key is not None and sample.id not in known:
                self.note(
                    f"records without gold that have a field {key!r}",
                    "It is read as what a system retrieved, which no golden set holds. If it is "
                    f"where the answer stands: --columns gold={key}.",
                    line,
                )

    def _with_span(self, record: Mapping[str, Any], line: int) -> Mapping[str, Any]:
        """The record with gold spans in place of the columns that say where they stand: one, or one
        for each text of a list."""
        keys = {part: key for key in record if (part := _SPAN_COLUMNS.get(folded(key)))}
        given = {part: record[key] for part, key in keys.items() if record[key] not in (None, "")}
        if not given or "gold" in self.columns or not given.keys() & {"document", "text"}:
            return record
        if any(FIELD_OF.get(folded(key)) == "gold" and record[key] for key in record):
            self.note(
                f"records with gold and {', '.join(map(repr, keys.values()))}",
                "The gold is read, and these columns are metadata.",
                line,
            )
            return record
        spans = [
            {
                part: field_values.whole_number(value, keys[part])
                if part in ("start", "end")
                else value
                for part, value in one.items()
            }
            for one in self._one_a_text(given, keys)
        ]
        without = {
            key: value
            for key, value in record.items()
            if key not in keys.values() and FIELD_OF.get(folded(key)) != "gold"
        }
        return {**without, "gold": spans}

    def _one_a_text(
        self, given: Mapping[str, Any], keys: Mapping[str, str]
    ) -> Iterator[Mapping[str, Any]]:
        """The values of the columns of a gold span, once for each text where they are lists; a
        document that is one text is that of all."""
        read = {
            part: field_values.unpack(value, keys[part]) if self.cells else value
            for part, value in given.items()
        }
        texts = read.get("text")
        if not isinstance(texts, list):
            yield given
            return
        for part, value in read.items():
            is_for_all = part == "document" and isinstance(value, str)
            if not is_for_all and not (isinstance(value, list) and len(value) == len(texts)):
                raise InputError(
                    f"{keys['text']} is a list of {plural(len(texts), 'text')}, and {keys[part]} "
                    "is none of as many values",
                    field=keys[part],
                    hint="Give a value for each text, or leave the column out: the texts are found "
                    "in the documents.",
                )
        for number in range(len(texts)):
            yield {
                part: value[number] if isinstance(value, list) else value
                for part, value in read.items()
            }

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
                    found = negatives_in(read)
                    rest[key] = [one["text"] for one in found]
                    own["negative_references"] = [
                        {"kind": one["kind"]} if one["kind"] else {} for one in found
                    ]
                elif isinstance(read, list) and any(isinstance(one, dict) for one in read):
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
            elif name == "tags" and isinstance(read, list):
                own[name] = list(map(str, read))
            elif name == "tags" and isinstance(read, str):
                own[name] = tags_in(read)
            elif name == "provenance" and isinstance(read, dict):
                own[name] = read
            else:
                rest[key] = value
        return own, rest

    def claim(self, sample: Sample, line: int) -> None:
        """Keeps the place. Arguments: as of the base class."""
        super().claim(sample, line)
        self.places[sample.identity] = (self.path or Path(), line)


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
    for ones in records.values():
        yield _merged(ones, path)


def _merged(records: Sequence[_Record], path: Path) -> tuple[Sample, dict[str, Any]]:
    first = records[0].sample
    facts = {}
    for name in (*_FACTS, "status"):
        given = [(one.place, value) for one in records if (value := one.says(name)) is not None]
        for place, value in given:
            if value != given[0][1]:
                raise InputError(
                    f"{given[0][0]} and {place} have the id {first.id!r}, and their values differ",
                    path=path,
                    field=name,
                    hint="A golden set holds one item for each id: let the records agree, or give "
                    "each query an id of its own.",
                )
        if given and name != "status":
            facts[name] = given[0][1]
    metadata = _shared([one.sample.metadata for one in records])
    return replace(first, **facts, metadata=metadata), _shared([one.own for one in records])


def _shared(mappings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What some mappings say and none says otherwise."""
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


def _text_at(gold: GoldPassage, documents: Mapping[str, Document]) -> str:
    """The text at the place of a passage; empty where it gives none."""
    one = documents.get(gold.document or "")
    if one is None or gold.start is None or gold.end is None:
        return ""
    return one.text[gold.start : gold.end]


def _placed(one: Placing, documents: Mapping[str, Document], finder: TextFinder) -> Placing:
    """What becomes of a passage."""
    said, here = one.said, _text_at(one.said, documents)
    is_whole = len(here) == (said.end or 0) - (said.start or 0)
    if not said.text:
        is_there = is_whole and here.strip()
        gold = replace(said, text=here) if is_there else None
        return replace(one, gold=gold, reason="" if is_there else "it has no text")
    if is_whole and here == said.text:
        return replace(one, gold=said)
    among = f"in {said.document}" if said.document in documents else "in the documents"
    sighting = finder.find(said.text, said.document)
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
    gold = replace(said, document=name, start=start, end=end, text=text)
    return replace(one, gold=gold, likeness=sighting.likeness, distance=sighting.distance)


def _kept(one: Placing) -> dict[str, Any]:
    """What provenance keeps of a passage without a place."""
    said = {name: getattr(one.said, name) for name in ("text", "document", "id", "grade")}
    return {name: value for name, value in said.items() if value} | {"reason": one.reason}


_HOW_TO_PLACE = (
    "Give the place of the text in the documents as they are now; leave gold out that is not "
    "there any more."
)


def _not_there(
    one: Placing,
    documents: Mapping[str, Document],
    path: Path,
    line: int | None,
    number: int,
) -> InputError:
    """The error for gold at a place where its text does not stand."""
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
    reason, hint = one.reason, _HOW_TO_PLACE
    if not gold.text:
        reason = "the gold gives no text that could be found instead"
        hint = "Give the text, or start and end in the documents as they are now."
    where = f"gold.{number}"
    return InputError(f"{problem}, and {reason}", path=path, line=line, field=where, hint=hint)


def _joined(wrong: Sequence[InputError], path: Path) -> InputError:
    """One error that tells several."""
    if len(wrong) == 1:
        return wrong[0]
    told = fault_lines([one.but(hint=None) for one in wrong])
    problem = f"{len(wrong)} gold passages do not stand where they say:{told}"
    return InputError(problem, path=path, hint=wrong[0].hint)
