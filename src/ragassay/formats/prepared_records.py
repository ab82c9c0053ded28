"""What the records of some tools go through before paths lead to their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from ragassay.base.sample import Passage, Sample
from ragassay.formats.format import Head
from ragassay.formats.format_words import wrong
from ragassay.formats.records import step_contents
from ragassay.formats.records.field_names import FIELD_OF, NAMES, folded
from ragassay.formats.records.field_values import opened, unpacked
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources.opening import placed

Row = Mapping[str, Any]


class Source(NamedTuple):
    """The file of a record: its first record, and the mapper that reads it."""

    first: Row
    mapper: Mapper


def attributes(record: Row, source: Source) -> Row:
    """The record of a span of OpenTelemetry with its attributes as nested objects, however they are
    written: by dotted names, as OTLP's list of keys and values, in columns ``attributes.NAME``."""
    written = unpacked(record.get("attributes")) or {}
    if not isinstance(written, dict | list):
        raise wrong("no_attributes", field="attributes")
    if isinstance(written, list):
        written = {str(item.get("key")): _value(item.get("value")) for item in written}
    columns = {key: item for key, item in record.items() if key.startswith("attributes.")}
    others = {key: item for key, item in record.items() if key not in columns}
    of_columns = {key.partition(".")[2]: unpacked(column) for key, column in columns.items()}
    entries = {**written, **of_columns}
    for key, value in entries.items():
        entries[key] = None if value == "null" and key.startswith("mlflow.") else value
    return {**others, "attributes": _listed(_nested(entries))}


def _value(value: Any) -> Any:
    """A value of OTLP's JSON as it is."""
    if not isinstance(value, dict):
        return value
    for name, element in value.items():
        if name in ("arrayValue", "array_value"):
            return [_value(item) for item in element.get("values") or ()]
        if name in ("kvlistValue", "kvlist_value"):
            return {item["key"]: _value(item.get("value")) for item in element.get("values") or ()}
        return int(element) if name in ("intValue", "int_value") else element
    return None


def _nested(entries: Row) -> dict[str, Any]:
    """The attributes with an object for each dotted name's part."""
    made: dict[str, Any] = {}
    for name, value in entries.items():
        *above, last = str(name).split(".")
        inner = made
        for key in above:
            below = inner.get(key)
            if not isinstance(below, dict):
                below = inner[key] = {}
            inner = below
        if isinstance(value, Mapping):
            below = inner.get(last)
            inner[last] = {**(below if isinstance(below, dict) else {}), **_nested(value)}
        elif value is not None and not isinstance(inner.get(last), dict):
            inner[last] = value if not isinstance(value, list) else [
                _nested(record) if isinstance(record, Mapping) else record for record in value
            ]  # fmt: skip
    return made


def _listed(value: Any) -> Any:
    """A value with lists in place of objects whose keys are 0, 1, 2 ..."""
    if isinstance(value, list):
        return [_listed(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value and all(key.isdecimal() for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {key: _listed(item) for key, item in value.items()}


def flat(nested: Row) -> dict[str, Any]:
    """The values of nested objects by dotted names."""
    made: dict[str, Any] = {}
    for name, value in nested.items():
        if isinstance(value, dict) and value:
            made |= {f"{name}.{inner}": item for inner, item in flat(value).items()}
        else:
            made[name] = value
    return made


def rated(record: Row, source: Source) -> Row:
    """A record of Langfuse without a usage that counts something else than tokens, and with scores:
    itself, or the lists in further columns of a table."""
    usage = unpacked(record.get("usage"))
    counts = not isinstance(usage, dict) or usage.get("unit") in (None, "", "TOKENS")
    lists = ((name, value) for name, value in record.items() if isinstance(value, list) and value)
    scores: Any = {
        name: value if value[1:] else value[0]
        for name, value in lists
        if name not in NAMES["langfuse.lists"] and not isinstance(value[0], dict | list)
    }
    if not {"dataType", "data_type"}.isdisjoint(record):
        scores = [record]
    listed = record.get("scores") or scores
    return {**record, "scores": listed, "usage": usage if counts else None}


def assessed(record: Row, source: Source) -> Row:
    """The record of a trace of MLflow with the ``expected_response`` among its assessments, and
    with what feedback says as its scores."""
    rows = [row for row in unpacked(record.get("assessments")) or () if isinstance(row, dict)]
    valid = [row for row in rows if row.get("valid") is not False]  # else a later one replaced it
    named = {str(row.get("assessment_name", row.get("name"))): row for row in reversed(valid)}
    said = named.get("expected_response", {}).get("expectation")
    value = said.get("value") if isinstance(said, dict) else said
    scores = {name: row.get("feedback") for name, row in named.items()}
    expected = None if value is None else [str(value)]
    return {**record, "expected_response": expected, "scores": scores}


def addresses(record: Row, source: Source) -> Row:
    """A row of MLflow's evaluation data, with the addresses of documents (``doc_uri``) as the ids
    of passages and gold, as MLflow compares them."""
    raw = {name: unpacked(record.get(name)) for name in ("inputs", "outputs", "expectations")}
    expected = raw["expectations"] or {}
    gold = expected.get("expected_retrieved_context")
    passages = step_contents.within(raw["outputs"], raw["inputs"])
    fields_of = {key: FIELD_OF.get(folded(key)) for key in record}
    if "passage_ids" not in source.mapper.columns and "passage_ids" not in fields_of.values():
        passages = _with_addresses(passages, gold)
    fields = {
        # What its tables do not have is somebody's own column.
        **{key: record[key] for key, text in fields_of.items() if text in NAMES["mlflow.ours"]},
        **({} if passages is None else {"passages": passages}),
        **({"gold": [*map(_gold, gold)]} if isinstance(gold, list) else {}),
    }
    return {**record, "fields": fields, "beside": raw}


def _with_addresses(passages: list[Any] | None, expected: Any) -> list[Any] | None:
    """The passages with the addresses of their documents as their ids. An id of their own stays
    where nothing is expected by an address."""
    by_address = isinstance(expected, list) and any(
        isinstance(value, dict) and value.get("doc_uri") is not None for value in expected
    )
    made: list[Any] = []
    for passage in passages or ():
        parts = (passage, passage.get("metadata")) if isinstance(passage, dict) else ()
        addresses = (part.get("doc_uri") for part in parts if isinstance(part, dict))
        address = next(filter(None, addresses), None)
        keeps = address is None or (passage.get("id") is not None and not by_address)
        made.append(passage if keeps else {**passage, "id": address})
    return passages if passages is None else made


def _gold(value: Any) -> Any:
    is_address = isinstance(value, dict) and "doc_uri" in value
    return {"id": value["doc_uri"], "text": value.get("content")} if is_address else value


_GROUPS = {
    name: group
    for group in ("inputs", "outputs", "reference_outputs")
    for name in NAMES[f"langsmith.{group}"]
}
"""Columns of LangSmith's tables that hold objects, by their names in the SDK's and the pages'."""


def experiment(record: Row, source: Source) -> Row:
    """A row of a table of LangSmith, of an example or of a result, with the columns of each group
    (``inputs.question``) as an object, and what is expected apart from what a system answered."""
    row = _grouped(record)
    scores: dict[str, float] = {}
    for key, value in row.items():
        number = step_contents.number(value)
        if key and key not in NAMES["langsmith.no_scores"] and number is not None:
            scores[key.removeprefix("feedback.")] = number
    made = {**row, "scores": scores, "beside": {**record, **row}}
    made |= {"answered": row.get("outputs"), "outputs": None}
    of_set, lacks = row.get("dataset_id") is not None, row.get("reference_outputs") is None
    may_be = lacks and not of_set and row.keys() <= {*NAMES["langsmith.example"]}
    mapper = source.mapper
    # Outputs with documents come from a system: what is expected holds none.
    answered = step_contents.within(_grouped(source.first).get("outputs")) is not None
    if may_be and answered and "references" not in mapper.columns:
        mapper.tell("outputs_with_documents")
    elif lacks and (of_set or may_be):
        if not of_set:
            mapper.tell("examples")
        expected = None if "answer" in mapper.columns else row.get("outputs")
        made |= {"answered": None, "outputs": expected}
    return made


def _grouped(row: Row) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in row.items():
        group, dot, name = key.partition(".")
        if dot and group in _GROUPS:
            made.setdefault(_GROUPS[group], {})[name] = unpacked(value)
        else:
            made[_GROUPS.get(folded(key), folded(key) if "." not in key else key)] = unpacked(value)
    return made


_MOST_LOOKED_AT = 100_000
"""Characters of a cell that detection reads."""


def langsmith_table(head: Head) -> bool:
    """Whether a table has the columns of LangSmith's pages: JSON in those of inputs and outputs."""
    names = {folded(name): name for name in head.columns}
    inputs = [names[name] for name in ("inputs", "input") if name in names]
    own = names.keys() & FIELD_OF.keys() - _GROUPS.keys() - {*NAMES["langsmith.ours"]}
    others = names.keys() & {*NAMES["langsmith.others"]}
    if head.container != "table" or not inputs or own or others:
        return False
    cell = head.record.get(inputs[0]) or ""
    with placed(head.path, 2):
        first = opened(cell[:_MOST_LOOKED_AT])
    return isinstance(first, dict) and not {"outputs", "output"}.isdisjoint(names)


def ties_by_id(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Samples with passages of equal scores by descending id, as MT-RAG's evaluation has them."""
    for sample in samples:
        ordered: list[Passage] = []
        for score, tied in groupby(sample.passages or (), key=lambda value: value.score):
            passages = list(tied)
            if score is not None:
                passages.sort(key=lambda passage: passage.id or "", reverse=True)
            ordered += passages
        yield replace(sample, passages=tuple(ordered)) if ordered else sample
