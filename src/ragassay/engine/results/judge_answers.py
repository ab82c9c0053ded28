"""The judge's answers that a run's scores rest on, by the ids that scores name as their evidence;
the lines of a run folder's files, and errors about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from ragassay.base.errors import InputError, validation_problem
from ragassay.formats.sources import opening
from ragassay.judges import Provenance

Record = Mapping[str, Any]
"""A judge's answer with its provenance, as `ragassay.judges.judge.to_record` makes it."""


class AnswerFile:
    """The judge's answers of a run folder. Only their places in the file stay in memory.

    Without a file (no judge was asked) it is empty. The first access reads the whole file, and
    raises `InputError` for a line that is no answer."""

    def __init__(self, path: Path, places: Mapping[str, int] | None = None) -> None:
        self._path = path
        if places is not None:
            self._places = places

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {record["id"]: place for place, record in self.placed()}

    def __contains__(self, id: str) -> bool:  # noqa: A002
        """Whether there is an answer of this id."""
        return id in self._places

    def get(self, id: str) -> Record | None:  # noqa: A002
        """The answer of this id, or ``None``."""
        if id not in self._places:
            return None
        with self._path.open("rb") as stream:
            stream.seek(self._places[id])
            record: Record = orjson.loads(stream.readline())
        return record

    def values(self) -> Iterator[Record]:
        """All answers, in the order of the file."""
        return (record for _, record in self.placed())

    def placed(self) -> Iterator[tuple[int, Record]]:
        """All answers, each with its place in the file."""
        form = TypeAdapter(_Checked)

        def checked(record: Record) -> Record:
            form.validate_python(record)
            return record

        if self._path.is_file():
            for _, place, record in read_lines(self._path, checked, "an answer", DAMAGED):
                yield place, record


JudgeAnswers = dict[str, Record] | AnswerFile
"""A judge's answers by id: those of a run in memory, or of a run folder."""


@dataclass(frozen=True, kw_only=True)
class _Checked(Provenance):
    """The form of a record and of its votes: an answer or a failure, and where it comes from."""

    id: str
    key: str
    question: str
    judge: str = ""
    messages: tuple[Mapping[str, str], ...] = ()
    detail: str = ""
    reason: str | None = None
    answer: dict[str, Any] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    votes: tuple[_Checked, ...] = ()
    repeat: int = 0


DAMAGED = "The folder is damaged; run the evaluation again."

T = TypeVar("T")


def read_lines(
    path: Path, parse: Callable[[Any], T], noun: str, hint: str | None = None
) -> Iterator[tuple[int, int, T]]:
    """The lines of a file of strict JSON: number from 1, place in bytes, and what it holds."""
    place = 0
    with path.open("rb") as stream:
        for number, line in enumerate(opening.raw_lines(stream, path), start=1):
            try:
                parsed = parse(orjson.loads(line))
            except ValueError as error:
                problem = f"is not {noun} ({problem_of(error)})"
                raise InputError(problem, path=path, line=number, hint=hint) from error
            yield number, place, parsed
            place += len(line)


def problem_of(error: Exception) -> str:
    """What is wrong with a record: pydantic's first mistake and its place, or the error's words."""
    return validation_problem(error) if isinstance(error, ValidationError) else str(error)
