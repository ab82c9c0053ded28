"""What is expected of the samples, from another file: a table of queries (Open RAG Eval's
``input_queries``), or questions in any format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ragassay import formats
from ragassay.counts import either
from ragassay.errors import InputError, warn_user
from ragassay.formats import delimited
from ragassay.samples import Sample

_ID, _QUERY, _EXPECTED = "query_id", "query", "expected_answer"


def with_references(samples: Iterable[Sample], path: str | Path) -> Iterator[Sample]:
    """The samples with the references that a file holds for them.

    Of a table with ``expected_answer``, rows belong to samples by ``query_id``, without that column
    by ``query``. Records of another file (any format) belong to them by id, else by their query,
    where it stands there once; their gold, labels and wrong answers are taken, too. A sample
    without a question there stays unchanged; a warning gives their number.

    Args:
        samples: any.
        path: the file.

    Raises:
        InputError: the file cannot be read, holds nothing that is expected, or has two answers for
            one query.
    """
    if _is_table(Path(path)):
        yield from _of_table(samples, path)
        return
    expected = formats.load(path, notes=formats.Notes())
    if not any(one.references or one.gold or one.answerability is not None for one in expected):
        raise InputError(
            "no record in it has references",
            path=path,
            hint="Name what holds them as 'references', for example "
            '{"id": "q1", "query": "Who?", "references": ["Ann"]}.',
        )
    questions = formats.Questions(Path(path), expected)
    for sample in samples:
        yield questions.joined(sample)
    _tell_lacking(path, questions.n_unknown, "no question in it, by id or by query")
    _tell_lacking(path, questions.n_reworded, "another query than the question of their id in it")


def _is_table(path: Path) -> bool:
    """Whether a file is a table with Open RAG Eval's column of expected answers, or should be one:
    no other column is known to hold what is expected."""
    if not {".csv", ".tsv"} & {suffix.lower() for suffix in path.suffixes}:
        return False
    columns = delimited.header(path)
    known = {formats.FIELD_OF.get(formats.folded(name)) for name in columns}
    return _EXPECTED in columns or not known & _WHAT_IS_EXPECTED


_WHAT_IS_EXPECTED = {"references", "reference_groups", "gold", "gold_ids", "answerability"}


def _of_table(samples: Iterable[Sample], path: str | Path) -> Iterator[Sample]:
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
    _tell_lacking(path, lacking, "no expected answer in it")


def _tell_lacking(path: str | Path, n: int, what: str) -> None:
    if n:
        warn_user(f"{path}: {n:,} of the samples {either(n, 'has', 'have')} {what}.")


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
