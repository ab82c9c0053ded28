"""The verdicts that a run's scores rest on, by the ids that scores name as their evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import orjson

from ragassay.errors import InputError
from ragassay.judges import Asked, to_record

Record = Mapping[str, Any]
"""A verdict as `ragassay.judges.verdict_records.to_record` makes it."""


class Verdicts(Protocol):
    """Verdicts by id."""

    def get(self, id: str) -> Record | None:  # noqa: A002 - the word of the contract
        """The verdict of this id, or ``None``."""

    def __iter__(self) -> Iterator[Record]:
        """All verdicts."""


class KeptVerdicts:
    """Verdicts in memory."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def add(self, asked: Asked) -> None:
        """Takes in a verdict."""
        self._records[asked.id] = to_record(asked)

    def get(self, id: str) -> Record | None:  # noqa: A002
        """The verdict of this id, or ``None``."""
        return self._records.get(id)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())


class VerdictFile:
    """The verdicts of a run folder. Only their places in the file stay in memory.

    Without a file (no judge was asked) it is empty. The first access reads the whole file, and
    raises `InputError` for a line that is no verdict.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _places(self) -> dict[str, int]:
        return {record["id"]: place for place, record in self.placed()}

    def __contains__(self, id: str) -> bool:  # noqa: A002
        """Whether there is a verdict of this id."""
        return id in self._places

    def get(self, id: str) -> Record | None:  # noqa: A002
        """The verdict of this id, or ``None``."""
        if id not in self._places:
            return None
        with self._path.open("rb") as stream:
            stream.seek(self._places[id])
            record: Record = orjson.loads(stream.readline())
        return record

    def __iter__(self) -> Iterator[Record]:
        return (record for _, record in self.placed())

    def placed(self) -> Iterator[tuple[int, Record]]:
        """All verdicts, each with its place in the file."""
        if not self._path.is_file():
            return
        place = 0
        with self._path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    record = orjson.loads(line)
                    _check(record)
                except (KeyError, TypeError, ValueError) as error:
                    raise InputError(
                        f"is not a verdict ({error})",
                        path=self._path,
                        line=number,
                        hint="The folder is damaged; run the evaluation again.",
                    ) from error
                yield place, record
                place += len(line)


_NUMBER = (int, float)
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "key", "question", "judge", "model", "reply", "prompt_hash"), str),
    **dict.fromkeys(("detail", "request"), str),
    "reason": (str, type(None)),
    "answer": (dict, type(None)),
    "about": dict,
    **dict.fromkeys(("messages", "votes"), list),
    **dict.fromkeys(("repeat", "input_tokens", "output_tokens", "attempts"), int),
    "latency": _NUMBER,
    "cost": (*_NUMBER, type(None)),
}


def _check(record: Any) -> None:
    """Checks that a record and its votes have the fields of a verdict, of the right types.

    Raises:
        KeyError, TypeError: it does not.
    """
    if not isinstance(record, dict):
        raise TypeError("it is no object")
    record["id"], record["key"], record["question"]
    for name, value in record.items():
        if name in _TYPES and not isinstance(value, _TYPES[name]):
            raise TypeError(f"{name} is {value!r:.80}")
    for message in record.get("messages", ()):
        if not (isinstance(message["role"], str) and isinstance(message["content"], str)):
            raise TypeError(f"a message is {message!r:.80}")
    for vote in record.get("votes", ()):
        _check(vote)
