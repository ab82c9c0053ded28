"""Golden answers from a table of queries (Open RAG Eval's ``input_queries``), joined to samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ragassay.counts import either
from ragassay.errors import InputError, RagassayWarning
from ragassay.formats.records import delimited
from ragassay.samples import Sample

_ID, _QUERY, _EXPECTED = "query_id", "query", "expected_answer"


def joined(samples: Iterable[Sample], path: str | Path) -> Iterator[Sample]:
    """The samples with the references that a table holds for them.

    Rows belong to samples by ``query_id``, in a table without that column by ``query``. A sample
    without a row, or with an empty one, stays unchanged; a warning gives their number.

    Args:
        samples: any.
        path: a CSV or TSV file with ``expected_answer``, and ``query_id`` or ``query``.

    Raises:
        InputError: the file cannot be read, lacks a column, or has two answers for one query.
    """
    by_id, answers = _read(Path(path))
    lacking = 0
    for sample in samples:
        expected = answers.get((sample.id if by_id else sample.query) or "")
        lacking += expected is None
        yield (
            sample
            if expected is None
            else replace(sample, references=(expected,), reference_groups=())
        )
    if lacking:
        warnings.warn(
            f"{path}: {lacking:,} of the samples {either(lacking, 'has', 'have')} no expected "
            "answer in it.",
            RagassayWarning,
            stacklevel=2,
        )


def _read(path: Path) -> tuple[bool, dict[str, str]]:
    """Whether rows belong to samples by id, and the expected answers."""
    answers: dict[str, str] = {}
    key = _ID
    for line, row in delimited.rows(path):
        key = _ID if _ID in row else _QUERY
        delimited.demand(row, (_EXPECTED, key), path, f"{_EXPECTED}, and {_ID} or {_QUERY}")
        name, expected = row[key], row[_EXPECTED]
        if name is None or expected is None:
            continue
        if answers.setdefault(name, expected) != expected:
            raise InputError(
                f"the query {name!r} has another expected answer above",
                path=path,
                line=line,
                field=_EXPECTED,
            )
    return key == _ID, answers
