"""ragassay's own format as it is written: JSON Lines, one sample a line (docs/formats.md, schema/).
Its reader is that of all JSON, in `reading`."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from importlib import resources
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, cast

import orjson
from pydantic import TypeAdapter

from ragassay.base.errors import InputError
from ragassay.base.files import atomic
from ragassay.base.sample import Answer, GoldPassage, Passage, Sample
from ragassay.formats.format_words import wrong


def to_record(sample: Sample) -> dict[str, Any]:
    """The JSON object of a sample. What is not given is left out."""
    record: dict[str, Any] = {"id": sample.id}
    for value, (name, default, written) in zip(_values(sample), _FIELDS, strict=True):
        if value is not default and value != default:
            record[name] = value if written is None else written(value)
    return record


def from_record(record: Any) -> Sample:
    """The sample that `to_record` made an object of, field by field."""
    try:
        return _form().validate_python(_with_answer(record))
    except InputError as error:
        raise ValueError(str(error)) from error


def _with_answer(record: Any) -> Any:
    """The record, and those of its runs, with answers in full."""
    if not isinstance(record, dict):
        return record
    answer, runs = record.get("answer"), record.get("runs")
    if isinstance(answer, str):
        record = record | {"answer": {"text": answer}}
    return record | {"runs": [_with_answer(run) for run in runs]} if runs else record


@cache
def _form() -> TypeAdapter[Sample]:
    return TypeAdapter(Sample)


def _answer(answer: Answer) -> str | dict[str, Any]:
    if not answer.statements:
        return answer.text
    parts = [{"text": part.text, "citations": list(part.citations)} for part in answer.statements]
    return {"text": answer.text, "statements": parts}


def dump(sample: Sample) -> bytes:
    """A sample's line, with its line ending. Strict JSON."""
    try:
        return orjson.dumps(to_record(sample), option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, orjson.JSONEncodeError) as error:
        raise wrong("not_written", id=sample.id, why=error) from None


def write(samples: Iterable[Sample], path: str | os.PathLike[str]) -> int:
    """Writes samples as JSON Lines.

    The file appears under its name only when it is complete.

    Args:
        samples: the samples, in the order of the lines.
        path: the file; a name that ends in ``.gz`` makes gzip.

    Returns:
        How many samples were written.

    Raises:
        UsageError: the folder cannot be written to.
        InputError: a sample holds what JSON cannot hold.
    """
    target = Path(path)
    count = 0
    with atomic(target) as raw, packed(raw, target) as stream:
        for sample in samples:
            stream.write(dump(sample))
            count += 1
    return count


def schema() -> dict[str, Any]:
    """The published JSON Schema (draft 2020-12) of one line."""
    text = resources.files("ragassay.formats").joinpath("schema/sample.schema.json").read_bytes()
    return cast("dict[str, Any]", orjson.loads(text))


def _passage(passage: Passage | GoldPassage) -> dict[str, Any]:
    values = ((name, getattr(passage, name, None)) for name in _PARTS)
    record = {name: value for name, value in values if value is not None}
    if record.keys().isdisjoint({"id", "text", "document"}):
        record["text"] = None
    if isinstance(passage, Passage) and passage.names:
        record["names"] = list(passage.names)
    return record


_PARTS = ("id", "text", "score", "document", "start", "end", "grade")

_WRITTEN: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("metadata", "given", "given_by", "given_unscored"), dict),
    **dict.fromkeys(("references", "negative_references"), list),
    **dict.fromkeys(("passages", "gold"), lambda passages: [*map(_passage, passages)]),
    "history": lambda turns: [{"speaker": turn.speaker, "text": turn.text} for turn in turns],
    "answer": _answer,
    "reference_groups": lambda groups: [list(group) for group in groups],
    "answerability": str,
    "runs": lambda runs: [to_record(run) for run in runs],
}
"""How a field's value becomes JSON, where it is none already."""


@contextmanager
def packed(raw: IO[bytes], target: Path) -> Iterator[IO[bytes]]:
    """A file's stream that compresses where its name ends in ``.gz``."""
    if target.suffix != ".gz":
        yield raw
        return
    # No name and no time in the header: the same samples give the same bytes.
    with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as stream:
        yield cast("IO[bytes]", stream)


_NAMES = tuple(field.name for field in fields(Sample) if field.name != "id")
_BLANK = Sample(id="none")
_FIELDS = [(name, getattr(_BLANK, name), _WRITTEN.get(name)) for name in _NAMES]
"""The name of each field, what it holds where nothing is given, and how it is written, in the order
in which a record is written."""

_values = attrgetter(*_NAMES)
