"""Test runs and results of deepeval, its datasets in CSV, and its conversational test cases. Plain
lists of test cases need no format of their own: their names are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records import Mapper
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.samples import Sample

_CASES = (
    *("testCases", "test_cases", "conversationalTestCases", "conversational_test_cases"),
    *("test_results", "testResults"),
)
_JOINED = ("retrieval_context", "context")
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
            joined = {key: cell.split("|") for key in _JOINED if (cell := row.get(key)) is not None}
            yield mapper.sample(_told({**row, **joined}), line)
        return
    for line, record in json_files.json_records(path, mapper.note, mapper.encoding, nested=True):
        run = record.get("testRunData") or record.get("test_run_data") or record
        lists = [run[name] for name in _CASES if isinstance(run.get(name), list)]
        if not lists:
            with opening.shaped("deepeval", path, line):
                made = _record(run)
            yield mapper.sample(made, line)
        for number, one in enumerate((case for cases in lists for case in cases), 1):
            with opening.placed(path, number):
                if not isinstance(one, dict):
                    raise InputError("the test case is no object", field=_CASES[0])
            yield mapper.sample(_record(one), number)


def _record(case: Mapping[str, Any]) -> dict[str, Any]:
    left_out = (
        *("metricsData", "metrics_data", "success", "order", "runDuration", "trace"),
        *("conversational", "multimodal", "index", "flaky"),
    )
    record = {key: value for key, value in case.items() if key not in left_out}
    turns = record.get("turns")
    if not isinstance(turns, list):
        return _told(record)
    answers = [one for one in turns if isinstance(one, dict) and one.get("role") == "assistant"]
    last = answers[-1] if answers else {}
    found = last.get("retrievalContext", last.get("retrieval_context"))
    if found is not None:
        record["passages"] = found
    return _told(record)


def _told(case: Mapping[str, Any]) -> dict[str, Any]:
    """What a case says. Its context is gold, also where nothing was retrieved: by the name of what
    was retrieved beside it, that is known."""
    told = {key: value for key, value in case.items() if value is not None}
    if "context" in told and told.keys().isdisjoint(_RETRIEVED):
        told["retrieval_context"] = None
    return told


def _sniff(head: Head) -> int:
    names = {*head.columns}
    if head.container == "table":
        return SURE if {*_JOINED, "custom_column_key_values"} <= names else NO
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
