"""Exports of other tools, read as the rows of ``exports.yaml`` say: how a file is recognised, where
the steps of a request are in its records, and which paths lead to what a step says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ragassay.base import packages
from ragassay.base.json_data import NOTHING, JsonPath
from ragassay.base.sample import Sample
from ragassay.formats import benchmark_files, evaluations, prepared_records, reading
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.format_words import wrong
from ragassay.formats.records import step_contents
from ragassay.formats.records.answers_and_turns import with_earlier_turns
from ragassay.formats.records.field_names import FIELD_OF, NAMES, folded
from ragassay.formats.records.field_values import opened, unpack, unpacked
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.formats.table_files import parquet_rows
from ragassay.formats.trace_spans import OTHER, RETRIEVAL, Span, kind_of, samples

Row = Mapping[str, Any]
Places = Mapping[str, str]
"""Field of a step -> its candidate paths."""

Found = Mapping[str, tuple[str, Any]]
"""Field of a step -> the path that led to its value, and the value."""

_NOTHING = ("", None)


@dataclass(frozen=True)
class Export:
    """The exports of one tool: a row of the table, whose keys ``exports.yaml`` describes."""

    name: str
    row: Row

    def sniff(self, head: Head) -> int:
        """How well a file fits."""
        may_be = _holds(self.row.get("always", ""), head)
        return SURE if may_be and any(_holds(sign, head) for sign in self.row["signs"]) else NO

    def read(self, path: Path, mapper: Mapper) -> Iterator[Sample]:
        """The samples of a file, one a request."""
        if self.row.get("fixed"):
            mapper.refuse_columns(self.name)
        if "shapes" in self.row:
            made = self.of_steps([path], mapper)
        elif "items" in self.row or "record" in self.row:
            made = self._of_items(path, mapper)
        else:
            made = reading.read_json(path, mapper)
        yield from FUNCTIONS[self.row["samples"]](made) if "samples" in self.row else made

    def _of_items(self, path: Path, mapper: Mapper) -> Iterator[Sample]:
        record_of = FUNCTIONS.get(self.row.get("record", ""))
        for line, item in self._items(path, mapper):
            with opening.shaped(self.row.get("tool", "its tool"), path, line):
                record, beside = record_of(item, line, mapper) if record_of else (item, None)
            yield mapper.sample(record, line, beside)

    def _items(self, path: Path, mapper: Mapper) -> evaluations.Items:
        """The items of a file, each with its line or number."""
        with opening.shaped(self.row.get("tool", "its tool"), path):
            yield from (FUNCTIONS.get(self.row.get("items", "")) or rows)(path, mapper)

    def of_steps(self, paths: Sequence[Path], mapper: Mapper) -> Iterator[Sample]:
        """The samples of files, one a request, whose steps may be in several of them."""
        steps: list[Span] = []
        for path in paths:
            mapper.path = path
            listed = self._items(path, mapper)
            begun = list(islice(listed, 1))
            record = begun[0][1] if begun else {}
            *others, last = self.row["shapes"]
            about = _head(record)
            fitting = (other for other in others if _holds(other.get("when", ""), about))
            shape = next(fitting, last) if begun else last
            hint = self.row.get("hint")
            reader = _Reader(shape, hint, prepared_records.Source(record, mapper))
            for line, row in chain(begun, listed):
                with opening.shaped(self.row.get("tool", "its tool"), path, line):
                    steps += reader.steps(row, line)
                if {"trace", "parent"}.isdisjoint(shape["span"]):  # each record is a request
                    yield from samples(steps, mapper)
                    steps = []
        yield from samples(steps, mapper)


def formats_of(table: Mapping[str, Row]) -> Iterator[Format]:
    """The formats that the rows of a table describe."""
    for name, row in table.items():
        export = Export(name, row)
        together = export.of_steps if "shapes" in row else None
        about = name, row["title"], tuple(row["suffixes"])
        yield Format(*about, export.sniff, export.read, read_together=together)


FUNCTIONS: dict[str, Callable[..., Any]] = {"with_earlier_turns": with_earlier_turns}
FUNCTIONS |= vars(prepared_records) | vars(evaluations) | vars(benchmark_files)
"""Functions that the table may name."""


def _holds(signs: str, head: Head) -> bool:
    """Whether all words of some signs hold."""
    return all(any(_says(part, head) for part in word.split("|")) for word in signs.split())


_KINDS = {"object": dict, "list": list, "object?": dict | None}


def _says(sign: str, head: Head) -> bool:
    if sign[0] == "!":
        return not _says(sign[1:], head)
    if sign[0] == "=":
        found = FUNCTIONS.get(sign[1:])
        return sign[1:] in (head.container, head.suffix) if found is None else bool(found(head))
    if sign[0] == "^":
        return sign[1:] in map(folded, head.columns)
    if sign[0] == "~":
        return {*head.columns} <= {*sign[1:].split(",")}
    if sign[0] == "@":
        return any(FIELD_OF.get(folded(name)) in sign[1:].split(",") for name in head.columns)
    if sign.endswith(".*"):
        return any(name.startswith(sign[:-1]) for name in head.columns)
    name, _, kind = sign.partition(":")
    if not kind and name in head.columns:
        return True
    place, value = first(name, head.record, null=True)
    return bool(place) and (not kind or isinstance(value, _KINDS[kind]))


def first(places: str, record: Row, *, null: bool = False) -> tuple[str, Any]:
    """What the first of some candidates (names or paths, joined by ``|``) that a record has leads
    to, and that candidate; an empty one and ``None`` where there is none. JSON in a text is read.
    With ``null``, a null counts, too."""
    for path in _paths(places):
        value = record[path.text] if path.text in record else path.reach(record, unpacked)
        if value is not NOTHING and (value is not None or null):
            return path.text, unpacked(value)
    return "", None


@lru_cache(maxsize=1024)
def _paths(places: str) -> tuple[JsonPath, ...]:
    return tuple(JsonPath.parse(part) for part in places.split("|"))


def rows(path: Path, mapper: Mapper) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each record of JSON, CSV (cells with lists or objects opened) or Parquet, with its line."""
    with opening.opened(path, mapper.encoding) as stream:
        start = stream.read(4)
    if start == b"PAR1":
        yield from parquet_rows(path)
    elif opening.is_json(path, mapper.encoding):
        yield from json_files.json_records(path, mapper.around, mapper.encoding)
    else:
        for line, row in delimited.rows(path, mapper.encoding):
            read = {name: cell for name, cell in row.items() if name not in NAMES["unread_cells"]}
            with opening.placed(path, line):
                cells = {name: unpack(cell, name) for name, cell in read.items()}
            yield line, row | cells


class _Reader:
    """Makes the steps of the records of one shape."""

    def __init__(self, shape: Row, hint: str | None, source: prepared_records.Source) -> None:
        self._shape, self._hint, self._source = shape, hint, source
        self._of_request: Places = shape.get("request", {})
        self._request_is_step = "inputs" in self._of_request

    def steps(self, row: Row, line: int) -> Iterator[Span]:
        """The steps in a record and its line."""
        for name in self._shape.get("unwrap", ()):
            inner = unpacked(row.get(name))
            row = {**row, **inner} if isinstance(inner, dict) else row
        whole = None
        if self._of_request and _holds(self._of_request.get("when", ""), _head(row)):
            whole = self._step(row, self._of_request, line)
            key = whole.id or f"line {line}"
            whole = replace(whole, id=key, trace=key)
        above = whole.id if whole is not None and self._request_is_step else None
        if whole is not None and above is not None:
            yield whole
        listed = self._records(row, listed=whole is not None or not self._request_is_step)
        for step in (
            each for record in listed for each in self._with_children(record, line, above)
        ):
            if whole is None or (above is not None and step.trace):
                yield step
            elif step.parent is not None:
                yield replace(step, trace=whole.trace)
            else:  # what the record says of the request counts before what its first step says
                yield replace(
                    step,
                    trace=whole.trace,
                    error=step.error or whole.error,
                    fields=whole.fields,
                    clock=whole.clock,
                    metadata={**step.metadata, **whole.metadata},
                    own={**step.own, **whole.own},
                )

    def _records(self, row: Row, *, listed: bool) -> list[Row]:
        """The records of the steps in a record, where it lists them."""
        places = self._shape.get("spans")
        if not places or not listed:
            return [row]
        _, found = first(places, row)
        if self._request_is_step:  # lists of traces hold the ids of their steps alone
            return [record for record in found or () if isinstance(record, dict)]
        if isinstance(found, list) and all(isinstance(value, dict) for value in found):
            return found
        field = str(_paths(places)[0].steps[0])
        raise wrong("no_spans", field=field).but(hint=self._hint)

    def _with_children(self, record: Row, line: int, above: str | None) -> Iterator[Span]:
        step = self._step(record, self._shape["span"], line)
        needs = self._shape.get("needs", {})
        if lacking := [column for name, column in needs.items() if not getattr(step, name)]:
            field = lacking[0].partition("|")[0]
            missing = wrong("span_lacks", field=field, names=" or no ".join(needs))
            raise missing.but(hint=self._hint)
        yield step if step.parent is not None else replace(step, parent=above)
        for child in record.get(self._shape.get("child", "")) or ():
            yield from self._with_children(child, line, step.id)

    def _step(self, record: Row, places: Places, line: int) -> Span:
        """A step of its record."""
        of_span = self._shape.get("prepare", "") if places is self._shape["span"] else ""
        if name := places.get("prepare", of_span):
            record = FUNCTIONS[name](record, self._source)
        found = {
            name: first(text, record) for name, text in places.items() if name not in _NO_PATHS
        }
        values = {name: value for name, (_, value) in found.items()}
        clock, begun = found.get("timestamp", _NOTHING)
        used = {name: values[name] for name in NAMES["measured"] if name in values}
        place, written = found.get("expected", _NOTHING)
        expected = step_contents.answer(written)
        chosen = "references" in self._source.mapper.columns
        if expected is None and written not in (None, {}, "") and not chosen:
            self._source.mapper.tell("unread_reference", line, column=place)
        kind = kind_of(values.get("kind"))
        named = places.get("kind_in_name")
        if named and kind == OTHER and named in str(values["name"]).casefold():
            kind = RETRIEVAL
        about = _under("metadata.", values).items()  # names of conversations and users are texts
        metadata = {name: str(value) for name, value in about if value not in (None, "")}
        return Span(
            line=line,
            path=self._source.mapper.path,
            id=_text(values.get("id")),
            trace=_text(values.get("trace")),
            name=_text(values.get("name")),
            parent=_text(values.get("parent")) or None,
            kind=kind,
            start=values.get("order", begun),
            inputs=values.get("inputs"),
            outputs=values.get("outputs"),
            documents=values.get("documents"),
            error=_error(values, places),
            fields={
                "timestamp": begun,
                **_under("field.", values),
                **({} if expected is None else {"references": [expected]}),
                **(values.get("fields") or {}),
            },
            clock=clock or "timestamp",
            metadata={**metadata, **step_contents.scores(values.get("scores"))},
            own=self._own(record, found, places),
            served=step_contents.measured(start=begun, end=values.get("end"), **used),
            beside=values.get("beside") or ({place: written} if place else {}),
            has_steps=values.get("steps") not in (None, [], 0, "0"),
        )

    def _own(self, record: Row, found: Found, places: Places) -> dict[str, Any]:
        """A step's metadata and tags by its makers; a text or list under the name ``metadata``."""
        environment = found.get("environment", _NOTHING)[1]
        read = {place for name, (place, _) in found.items() if name.startswith("metadata.")}
        own = {"tags": opened(found.get("tags", _NOTHING)[1])}
        own["environment"] = None if environment == "default" else environment
        for place in reversed(places["own"].split("+") if "own" in places else ()):
            written = first(place, record)[1]
            if not isinstance(written, dict):
                written = {"metadata": written}
            written = {key: value for key, value in written.items() if f"{place}.{key}" not in read}
            own |= prepared_records.flat(written) if place.startswith("attributes.") else written
        internal = self._shape.get("internal", ())
        kept = {key: value for key, value in own.items() if value not in (None, "", [])}
        names = (key for key in kept if not key.casefold().startswith(NAMES["internal"]))
        return {key: kept[key] for key in names if key not in internal}


_NO_PATHS = ("own", "prepare", "kind_in_name")
"""Entries of places that are no candidate paths; those of ``own`` all count."""


def _head(row: Row) -> Head:
    return Head(Path(), "", "json", tuple(row), row)


def _text(value: Any) -> str:
    return "" if value in (None, [], {}) else str(value)


def _error(values: Row, places: Places) -> Any:
    """Why a step failed; ``None`` where it did not."""
    if "failed" not in places:
        return values.get("error") or None
    failed = str(values["failed"] or "").upper()
    return values.get("error") or "error" if failed.endswith("ERROR") or failed == "2" else None


def _under(begin: str, values: Row) -> dict[str, Any]:
    return {name[len(begin) :]: value for name, value in values.items() if name.startswith(begin)}


FORMATS = tuple(formats_of(packages.table("ragassay.formats", "exports.yaml")))
"""The format of each row of the table."""
