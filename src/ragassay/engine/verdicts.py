"""The verdicts behind a run's scores, looked up by the ids that scores name as their evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import orjson

from ragassay.errors import InputError
from ragassay.judges.asking import Asked
from ragassay.judges.records import to_record

Record = Mapping[str, Any]
"""A verdict as `ragassay.judges.records.to_record` makes it."""


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

    A run that asked nobody has no file: it then holds nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, int] | None = None

    def get(self, id: str) -> Record | None:  # noqa: A002
        """The verdict of this id, or ``None``.

        Raises:
            InputError: a line that is no verdict.
        """
        if self._places is None:
            self._places = {record["id"]: place for place, record in self._placed()}
        if id not in self._places:
            return None
        with self._path.open("rb") as stream:
            stream.seek(self._places[id])
            found: Record = orjson.loads(stream.readline())
        return found

    def __iter__(self) -> Iterator[Record]:
        return (record for _, record in self._placed())

    def _placed(self) -> Iterator[tuple[int, Record]]:
        if not self._path.is_file():
            return
        place = 0
        with self._path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    record = orjson.loads(line)
                    record["id"], record["key"], record["question"]
                except (KeyError, TypeError, ValueError) as error:
                    raise InputError(
                        f"is not a verdict ({error})", path=self._path, line=number
                    ) from error
                yield place, record
                place += len(line)
