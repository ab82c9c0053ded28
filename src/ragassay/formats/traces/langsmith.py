"""LangSmith: runs, examples of data sets, and results of experiments (JSON, CSV, Parquet), as the
SDK and the pages export them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.values import field_values
from ragassay.formats.records.values.retrieved import unpacked
from ragassay.formats.sources.kinds import kind
from ragassay.formats.sources.opening import placed
from ragassay.formats.traces import python_cells, request_spans as spans, served, step_contents
from ragassay.formats.traces.tool_exports import Made, Making, Row, reader
from ragassay.formats.traces.trace_spans import tell_unread_reference


def _records(first: Row, mapper: Mapper) -> Making | None:
    """What makes a sample of each example or result; ``None`` where a file holds runs."""
    if "run_type" in first:
        return None
    # Outputs with documents come from a system: what is expected holds none.
    retrieved = step_contents.passages(_grouped(first).get("outputs")) is not None

    def result(row: Mapping[str, Any]) -> Made:
        return _example(_grouped(_result(row)), mapper, retrieved), None

    def example(row: Mapping[str, Any]) -> Made:
        grouped = _grouped(row)
        record = _example(grouped, mapper, retrieved)
        others = {**row, **grouped}
        return record, {key: value for key, value in others.items() if key not in record}

    return result if isinstance(first.get("run"), dict) else example


def _spans(row: Mapping[str, Any], line: int) -> Iterator[spans.Span]:
    if row.get("id") in (None, ""):
        raise InputError("the run has no id", field="id")
    started = row.get("start_time")
    session = _metadata(row)
    talk = next((key for key in _CONVERSATION if session.get(key)), None)
    reference = next((row[key] for key in _EXPECTED if row.get(key) is not None), None)
    yield spans.Span(
        line=line,
        id=str(row["id"]),
        parent=row.get("parent_run_id") or None,
        trace=str(row.get("trace_id") or ""),
        kind=spans.kind_of(row.get("run_type")),
        name=str(row.get("name") or ""),
        start=row.get("dotted_order") or started,
        inputs=unpacked(row.get("inputs")),
        outputs=unpacked(row.get("outputs")),
        error=row.get("error") or None,
        fields={
            "timestamp": started,
            "system": row.get("session_name"),
            "id": row.get("reference_example_id"),
            "references": _references(reference),
        },
        clock="start_time",
        metadata={
            "conversation_id": None if talk is None else str(session[talk]),
            **_scores(row),
        },
        served=served.measured(
            start=started,
            end=row.get("end_time"),
            first_token=row.get("first_token_time"),
            input_tokens=row.get("prompt_tokens"),
            output_tokens=row.get("completion_tokens"),
            total_tokens=row.get("total_tokens"),
            cost=row.get("total_cost"),
        ),
        own=_own(session, row, talk),
        beside={} if reference is None else {"reference_outputs": unpacked(reference)},
    )
    for child in row.get("child_runs") or ():
        yield from _spans({"parent_run_id": row["id"], **child}, line)


_CONVERSATION = ("session_id", "thread_id", "conversation_id")
"""Names in a run's metadata of the conversation that it is part of."""

_INTERNAL = ("ls_", "langgraph_", "langsmith_", "langchain_", "checkpoint_", "__", "lc_")
_INTERNALS = frozenset({"revision_id", "runtime", "batch_size", "created_by"})
"""What LangSmith and LangChain write into the metadata of runs themselves."""


def _own(
    metadata: Mapping[str, Any], row: Mapping[str, Any], used: str | None = None
) -> dict[str, Any]:
    """The metadata and tags that the makers of a system gave a run, without the key that is used
    elsewhere."""
    others = {
        key: value
        for key, value in metadata.items()
        if key != used and not key.casefold().startswith(_INTERNAL) and key not in _INTERNALS
    }
    tags = field_values.opened(row.get("tags"))
    return {**({"tags": tags} if tags else {}), **others}


def _metadata(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(_object(row, "extra"), "metadata")


def _references(reference: Any) -> list[str] | None:
    """The answer that is expected; ``None`` where none is known."""
    expected = step_contents.answer(reference)
    return None if expected is None else [expected]


def _object(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = unpacked(row.get(name)) or {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is {kind(value)} in place of an object")
    return value


def _scores(row: Mapping[str, Any]) -> dict[str, Any]:
    """The means of a run's feedback from people and evaluators."""
    stats = _object(row, "feedback_stats")
    return {f"score.{name}": _object(stats, name).get("avg") for name in stats}


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    """A result of an experiment: the run of an example, as a row of a table of experiments."""
    run, example = row["run"], row.get("example") or {}
    values = {"inputs": run.get("inputs"), "outputs": run.get("outputs"), "error": run.get("error")}
    metadata = {**_own(_object(example, "metadata"), {}), **_own(_metadata(run), run)}
    return {
        **values,
        "id": example.get("id"),
        "reference_outputs": example.get("outputs"),
        "metadata": metadata,
    }


_GROUPS = {
    **dict.fromkeys(("inputs", "input"), "inputs"),
    **dict.fromkeys(("outputs", "output"), "outputs"),
    **dict.fromkeys(("reference", "reference_outputs", "reference_output"), "reference"),
}
"""Columns that hold objects, by their names in tables of the SDK and of the pages."""


def _grouped(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose columns are called ``inputs.question``, with the parts of each group together."""
    made: dict[str, Any] = {}
    for key, value in row.items():
        group, dot, name = key.partition(".")
        if dot and group in _GROUPS:
            made.setdefault(_GROUPS[group], {})[name] = unpacked(value)
        else:
            made[_GROUPS.get(folded(key), folded(key) if "." not in key else key)] = unpacked(value)
    return made


def _groups_of(row: Row, mapper: Mapper, retrieved: bool) -> tuple[Any, Any, Any]:
    """The inputs, the outputs and what is expected; ``retrieved`` says that outputs without a
    reference are a system's."""
    inputs, outputs, reference = row.get("inputs"), row.get("outputs"), row.get("reference")
    of_set = row.get("dataset_id") is not None
    may_be = reference is None and not of_set and row.keys() <= _EXAMPLE
    if may_be and retrieved and "references" not in mapper.columns:
        mapper.note(
            "outputs that hold documents",
            "They count as what a system answered and retrieved. If they are what is expected "
            "(examples of a data set), say so: --columns references=outputs.answer, by the key "
            "that holds it.",
        )
    elif reference is None and (of_set or may_be):
        if not of_set:
            mapper.note(
                "examples of a data set",
                "Their outputs are what is expected (references). If a system gave them, say so: "
                "--columns answer=outputs.answer, by the key that holds it.",
            )
        # An example holds what is expected.
        reference, outputs = (None if "answer" in mapper.columns else outputs), None
    return inputs, outputs, reference


_EXAMPLE = frozenset({"id", "inputs", "outputs", "metadata", "split", "created_at", "modified_at"})
"""The keys of an example of a data set; a run has none of them."""

_MEASURED: Mapping[str, tuple[str, float]] = {
    **dict.fromkeys(("latency", "latency_(s)", "latency_s", "execution_time"), ("latency", 1)),
    **dict.fromkeys(("latency_(ms)", "latency_ms"), ("latency", 0.001)),
    **dict.fromkeys(("first_token_(s)", "time_to_first_token_(s)"), ("first_token", 1)),
    **dict.fromkeys(("prompt_tokens", "input_tokens"), ("input_tokens", 1)),
    **dict.fromkeys(("completion_tokens", "output_tokens"), ("output_tokens", 1)),
    **dict.fromkeys(("total_tokens", "tokens"), ("total_tokens", 1)),
    **dict.fromkeys(("total_cost", "cost", "cost_($)", "cost_(usd)"), ("cost", 1)),
}
"""Columns that tell what a run took: the name of the measure, and the factor of its numbers. Of
several columns for one measure the first that holds a number counts."""

_NO_SCORES = frozenset({*_MEASURED, "run_id", "example_id", "dataset_id", "id"})
"""Columns with numbers that are no scores."""


def _used(row: Mapping[str, Any]) -> dict[str, float]:
    """What a run took, by the columns of its row."""
    numbers: dict[str, float] = {}
    for column, (name, factor) in _MEASURED.items():
        value = row.get(column)
        if isinstance(value, str) and (match := _SECONDS.fullmatch(value)) is not None:
            value, factor = match[1], 1
        number = served.number(value)
        if number is not None:
            numbers.setdefault(name, number * factor)
    return served.measured(**numbers)


_SECONDS = re.compile(r"\s*([\d.]+)\s*s\s*")
"""A time as the pages show it: ``2.50s``."""


def _example(row: Mapping[str, Any], mapper: Mapper, retrieved: bool) -> dict[str, Any]:
    """The record of a row: of an example, of a result, or of a run in the page's table."""
    inputs, outputs, reference = _groups_of(row, mapper, retrieved)
    scores = {
        f"score.{key.removeprefix('feedback.')}": number
        for key, value in row.items()
        if key and key not in _NO_SCORES and (number := served.number(value)) is not None
    }
    used = _used(row)
    own, tags = row.get("metadata"), field_values.opened(row.get("tags"))
    references = _references(reference)
    if references is None and reference not in (None, {}, ""):
        column = "outputs" if row.get("reference") is None else "reference_outputs"
        tell_unread_reference(mapper, column)
    failed, detail = step_contents.failure(row.get("error"))
    metadata = {
        **({"tags": tags} if isinstance(tags, list) and tags else {}),
        **(own if isinstance(own, Mapping) else {}),
        **scores,
        **({"asked": used} if used else {}),
        **({"failure_detail": detail} if detail else {}),
    }
    return mapper.unchosen(
        {
            "id": row.get("example_id") or row.get("id") or row.get("run_id"),
            **step_contents.asked(inputs),
            "answer": step_contents.answer(outputs),
            "passages": step_contents.passages(outputs, inputs),
            "references": references,
            "failure": failed or None,
            "timestamp": served.of_any_unit(row.get("start_time")),
            "metadata": metadata or None,
        }
    )


def _sniff(head: Head) -> int:
    groups = {name.partition(".")[0] for name in head.columns if "." in name}
    if head.holds("passages", "gold"):
        return NO  # somebody's own records: LangSmith writes these into inputs and outputs
    fits = (
        head.has("id", "run_type", "inputs")
        or head.has("inputs", "outputs", "dataset_id")
        or {"inputs", "outputs", "reference"} <= groups
        or all(isinstance(head.record.get(name), dict) for name in ("run", "example"))
        or _is_flat(head)
        or _is_table(head)
    )
    return SURE if fits else NO


def _is_flat(head: Head) -> bool:
    """Whether JSON begins with an example of a data set, or with a result of an experiment that has
    inputs, outputs and what is expected beside each other."""
    record = head.record
    if head.container != "json" or "outputs" not in record:
        return False
    # Outputs are null in an example without an expected answer.
    if not (isinstance(record.get("inputs"), dict) and isinstance(record["outputs"], dict | None)):
        return False
    expects = any(isinstance(record.get(name), dict) for name in _EXPECTED)
    return record.keys() <= _EXAMPLE or (expects and not _OTHERS & record.keys())


_EXPECTED = ("reference_outputs", "reference_output")
"""Names that only LangSmith gives to what is expected."""


_OTHERS = frozenset({"expectations", "expected_output", "observations", "session_id", "project_id"})
"""Columns of other tools that have inputs and outputs, too."""


_NAMED_SO = frozenset({"id", "error", "metadata", "tags"})
"""Our names that LangSmith's tables have, too. A table with others of ours is the user's own."""


def _is_table(head: Head) -> bool:
    """Whether a table has the columns of LangSmith's pages: JSON in those of inputs and outputs."""
    names = {folded(name): name for name in head.columns}
    inputs = [names[name] for name in ("inputs", "input") if name in names]
    own = {name for name in names if name in FIELD_OF} - _GROUPS.keys() - _NAMED_SO
    if head.container != "table" or not inputs or own or _OTHERS & names.keys():
        return False
    cell = head.record.get(inputs[0]) or ""
    with placed(head.path, 2):
        first = python_cells.opened(cell[:_MOST_LOOKED_AT], inputs[0])
    return isinstance(first, dict) and not {"outputs", "output"}.isdisjoint(names)


_MOST_LOOKED_AT = 100_000
"""Characters of a cell that detection reads."""


FORMAT = Format(
    name="langsmith",
    title="LangSmith runs, examples and results of experiments (JSON, CSV, Parquet)",
    suffixes=(".jsonl", ".json", ".csv", ".parquet"),
    sniff=_sniff,
    read=reader("LangSmith", _spans, _records),
)
