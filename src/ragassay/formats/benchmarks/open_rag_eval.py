"""Results of Open RAG Eval's connectors: a CSV with one row a passage.

The rows of one query and run are in rank order, mostly together; one of them holds the answer.
``NO_ANSWER`` means that the system answered with nothing, ``API_ERROR`` that it failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.values import field_values
from ragassay.formats.sources import delimited
from ragassay.formats.sources.delimited import Row
from ragassay.formats.sources.opening import placed

_COLUMNS = ("query", "passage_id", "passage", "generated_answer")
_OPTIONAL = ("query_id", "query_run")
_KNOWN = frozenset({*_COLUMNS, *_OPTIONAL})
_NO_ANSWER, _API_ERROR = "NO_ANSWER", "API_ERROR"
_NO_PASSAGE = ("NA", "ERROR")
"""What ``passage_id`` holds where no passage was recorded, beside NO_ANSWER or API_ERROR."""

Numbered = tuple[int, Row]
_Key = tuple[str | None, str | None, str | None]


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of the file, one for each query and run.

    The file is read twice: first to find the last row of each group, then for the samples, so that
    only incomplete groups are held in memory.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a row cannot be read, or the rows of one run contradict each other.
        UsageError: columns were chosen.
    """
    mapper.refuse_columns("open_rag_eval")
    last = {_group_key(one): one[0] for one in _rows(path, mapper.encoding)}
    begun: dict[_Key, list[Numbered]] = {}
    for one in _rows(path, mapper.encoding):
        key = _group_key(one)
        begun.setdefault(key, []).append(one)
        if one[0] == last[key]:
            yield _sample(begun.pop(key), mapper)


def _rows(path: Path, encoding: str | None) -> Iterator[Numbered]:
    for line, row in delimited.rows(path, encoding):
        delimited.demand(row, _COLUMNS, path, ", ".join((*_OPTIONAL, *_COLUMNS)))
        if row["query"] is None:
            raise InputError("the query is empty", path=path, line=line, field="query")
        yield line, row


def _group_key(numbered: Numbered) -> _Key:
    """The group of a row: its id and run, or its query and run where it has no id."""
    _, row = numbered
    name = row.get("query_id")
    return name, None if name else row["query"], row.get("query_run")


def _sample(rows: list[Numbered], mapper: Mapper) -> Sample:
    line, first = rows[0]
    with placed(mapper.path, line):
        for other, row in rows[1:]:
            if row["query"] != first["query"]:
                raise InputError(
                    f"the query differs from the one in line {line}", line=other, field="query"
                )
        run = field_values.whole_number(first.get("query_run"), "query_run")
        if run is not None and run < 1:
            raise InputError(f"the run is {run}", field="query_run", hint="Runs count from 1.")
        answer, failure = _answer_and_failure(rows)
        for column in first:
            if column not in _KNOWN and any(row[column] != first[column] for _, row in rows):
                mapper.note(
                    f"queries whose rows differ in {column!r}",
                    "The value of the first row is kept in the metadata.",
                    line,
                )
        if answer == "":
            mapper.note("answers that say NO_ANSWER", "They are kept as empty answers.", line)
        if failure:
            mapper.note("records that say API_ERROR", "They are kept, without an answer.", line)
        sample = Sample(
            id=first.get("query_id") or mapper.made_id(first["query"], (), line),
            query=first["query"],
            system=mapper.system,
            repeat=0 if run is None else run - 1,
            passages=_passages(rows, mapper),
            answer=None if answer is None else Answer(answer),
            failure=failure,
            metadata=_metadata(first, no_answer=answer == "", failed=failure is not None),
        )
    mapper.claim(sample, line)
    return sample


def _answer_and_failure(rows: list[Numbered]) -> tuple[str | None, str | None]:
    """The answer ("" for NO_ANSWER, ``None`` where there is none) and the failure."""
    lines = {row["generated_answer"]: line for line, row in rows if row["generated_answer"]}
    if len(lines) > 1:
        raise InputError(
            "the rows of one query and run hold different answers",
            line=list(lines.values())[1],
            field="generated_answer",
            hint="Give each run of a query its own query_run.",
        )
    answer = next(iter(lines), None)
    if answer == _API_ERROR:
        return None, _API_ERROR
    return ("" if answer == _NO_ANSWER else answer), None


def _metadata(row: Row, *, no_answer: bool, failed: bool) -> dict[str, Any]:
    """Other columns with the values of the first row, a mark for NO_ANSWER, and the text that an
    API_ERROR has in place of a passage."""
    metadata: dict[str, Any] = {
        key: cell for key, cell in row.items() if key not in _KNOWN and cell is not None
    }
    if no_answer:
        metadata["no_answer"] = True
    if failed and row["passage_id"] in _NO_PASSAGE and row["passage"]:
        metadata["failure_detail"] = row["passage"]
    return metadata


def _passages(rows: list[Numbered], mapper: Mapper) -> tuple[Passage, ...] | None:
    """Passages in rank order; ``None`` where ``NA`` or ``ERROR`` replaces all of them."""
    passages, seen = [], set()
    for line, row in rows:
        name, words = row["passage_id"], row["passage"]
        if name in _NO_PASSAGE and row["generated_answer"] in (_NO_ANSWER, _API_ERROR):
            continue
        if name is None and words is None:
            continue
        if words is None:
            mapper.note("passages without a text", "They are kept by their id.", line)
        if name is not None and name in seen:
            mapper.note("passage ids that occur twice for one query", "Both are kept.", line)
        seen.add(name)
        passages.append(Passage(words, name))
    if not passages and any(row["passage_id"] in _NO_PASSAGE for _, row in rows):
        return None
    return tuple(passages)


def _sniff(head: Head) -> int:
    return SURE if head.container == "table" and head.has(*_COLUMNS) else NO


FORMAT = Format(
    name="open_rag_eval",
    title="Open RAG Eval connector results (CSV, one row a passage)",
    suffixes=(".csv",),
    sniff=_sniff,
    read=read,
)
