"""Test runs and results of deepeval, its datasets in CSV, and its conversational test cases. Plain
lists of test cases need no format of their own: their names are known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.values import field_values
from ragassay.formats.records.values.retrieved import unpacked
from ragassay.formats.sources import delimited, json_files, opening

_CASES = (
    *("testCases", "test_cases", "conversationalTestCases", "conversational_test_cases"),
    *("test_results", "testResults"),
)
_JOINED = ("retrieval_context", "context")
_OWN = ("source_file", "tools_called", "expected_tools")
"""Columns of deepeval's datasets in CSV that others seldom have."""

_RETRIEVED = frozenset({"retrievalContext", "retrieval_context", "passages"})
_CONVERSATIONAL = ("scenario", "expectedOutcome", "expected_outcome", "chatbotRole", "chatbot_role")


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """A sample for each test case; of a conversation, its last question and answer.

    In CSV, deepeval joins the texts of a context by ``|``, whatever they hold.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a test case cannot be read.
    """
    if not opening.is_json(path, mapper.encoding):
        for line, row in delimited.rows(path, mapper.encoding):
            joined = {key: _texts(cell) for key in _JOINED if (cell := row.get(key)) is not None}
            made = _with_context(_with(_metadata(row), {**row, **joined}))
            yield mapper.sample(made, line, _beside(row, made))
        return
    seen: set[str] = set()
    for line, record in json_files.json_records(path, mapper.note, mapper.encoding, nested=True):
        with opening.shaped("deepeval", path, line):
            run = record.get("testRunData") or record.get("test_run_data") or record
            lists = [run[name] for name in _CASES if isinstance(run.get(name), list)]
        cases = [case for cases in lists for case in cases]
        ids = _ids(cases, seen)
        for number, case in enumerate(cases, 1) if lists else ((line, run),):
            with opening.shaped("deepeval", path, number):
                if not isinstance(case, dict):
                    raise InputError("the test case is no object", field=_CASES[0])
                made = _record(case, ids)
            yield mapper.sample(made, number, _beside(case, made))


def _texts(cell: str) -> list[Any]:
    """The texts of a context in CSV; a cell that others wrote may hold a list."""
    listed = field_values.opened(cell)
    return listed if isinstance(listed, list) else cell.split("|")


def _ids(cases: Sequence[Any], seen: set[str]) -> frozenset[str]:
    """The names of test cases that are ids: all of them where each case has one of its own and no
    earlier test run of the file has it.

    Names that deepeval made (``test_case_0``) count the cases of one run, so in another run another
    case may have them: they are no ids.

    Args:
        cases: of one test run.
        seen: the names in earlier test runs, to which those of this one are added.
    """
    listed = [one.get("name") if isinstance(one, dict) else None for one in cases]
    names = {one for one in listed if isinstance(one, str) and one and not _NUMBERED.fullmatch(one)}
    are_ids = len(names) == len(cases) and names.isdisjoint(seen)
    seen |= names
    return frozenset(names) if are_ids else frozenset()


_NUMBERED = re.compile(r"(?:conversational_)?test_case_\d+")
"""Names that deepeval gives to test cases without one."""


def _record(case: Mapping[str, Any], ids: frozenset[str]) -> dict[str, Any]:
    left_out = (
        *("metricsData", "metrics_data", "success", "order", "runDuration", "trace"),
        *("conversational", "multimodal", "index", "flaky"),
    )
    record = {key: value for key, value in case.items() if key not in left_out}
    metadata = _metadata(case)
    if record.get("name") in ids:
        record["id"] = record.pop("name")
    elif (name := record.pop("name", None)) is not None:
        metadata.setdefault("name", name)
    record = _with(metadata, record)
    turns = record.get("turns")
    turns = turns if isinstance(turns, list) else []
    answers = [one for one in turns if isinstance(one, dict) and one.get("role") == "assistant"]
    last = answers[-1] if answers else {}
    passages = last.get("retrievalContext", last.get("retrieval_context"))
    return _with_context(record if passages is None else {**record, "passages": passages})


_METADATA = ("metadata", "additionalMetadata", "additional_metadata")
"""Names of the metadata of a test case; the later ones are of older versions."""


def _metadata(case: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a test case, and the scores that deepeval gave it, by their names as
    ``score.NAME``."""
    made: dict[str, Any] = {}
    for name in reversed(_METADATA):
        written = unpacked(case.get(name))
        if isinstance(written, Mapping):
            made |= written
        elif written is not None:
            made[name] = written
    scores = case.get("metricsData") or case.get("metrics_data")
    for one in scores if isinstance(scores, list) else ():
        if isinstance(one, dict) and one.get("name") and one.get("score") is not None:
            made[f"score.{one['name']}"] = one["score"]
    return made


def _with(metadata: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its metadata in one place."""
    others = {key: value for key, value in record.items() if key not in _METADATA}
    return {**others, "metadata": metadata} if metadata else others


def _beside(case: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a case that its record no longer has by their names, for chosen columns."""
    return {key: case[key] for key in ("name", *_METADATA) if key in case and key not in record}


def _with_context(case: Mapping[str, Any]) -> dict[str, Any]:
    """A case without its nulls. Its ``context`` is gold only beside ``retrieval_context``, which is
    therefore added where nothing was retrieved."""
    record = {key: value for key, value in case.items() if value is not None}
    if "context" in record and record.keys().isdisjoint(_RETRIEVED):
        record["retrieval_context"] = None
    return record


def _sniff(head: Head) -> int:
    names = {*head.columns}
    if head.container == "table":
        outputs = {"actual_output", "expected_output"} <= names
        own = "custom_column_key_values" in names or (outputs and not names.isdisjoint(_OWN))
        return SURE if own and {*_JOINED} <= names else NO
    run = bool(names & {*_CASES, "testRunData", "test_run_data"})
    talk = isinstance(head.record.get("turns"), list) and bool(names & {*_CONVERSATIONAL})
    return SURE if head.container == "json" and (run or talk) else NO


FORMAT = Format(
    name="deepeval",
    title="deepeval test runs, datasets and conversational test cases (JSON, CSV)",
    suffixes=(".json", ".jsonl", ".csv"),
    sniff=_sniff,
    read=read,
)
