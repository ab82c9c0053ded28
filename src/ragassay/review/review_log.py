"""The log of reviews, ``reviews.jsonl``: a line a decision, never changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragassay.golden.golden_folder import json_value
from ragassay.golden.golden_item import wrong_record

Decision = Literal["accept", "edit", "reject", "tag", "undo"]


class Review(BaseModel):
    """What a person decided on an item."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    item: str
    reviewer: str
    at: str = Field(description="When, in UTC")
    decision: Decision = Field(description="edit: accepted with changes; undo: the last one back")
    seconds: float = Field(0.0, ge=0, description="How long the person had the item before them")
    changes: dict[str, tuple[Any, Any]] = Field(
        default_factory=dict, description="For each field that changes its value before and after"
    )
    applied: bool = Field(True, description="The item was changed; else others are waited for")
    final: bool = Field(False, description="By somebody who saw what others had decided")
    calibration: bool = Field(False, description="The item belongs to the calibration set")
    right: bool | None = Field(None, description="As the calibration set has it")

    def to_record(self) -> dict[str, Any]:
        """The line of the log, without what has its default."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Standing:
    """Which reviews count: each person's last one of an item, without those taken back.

    Args:
        reviews: in the order of the log.
    """

    def __init__(self, reviews: Iterable[Review]) -> None:
        counting: dict[int, Review] = {}
        stacks: dict[str, list[int]] = {}
        for number, one in enumerate(reviews):
            stack = stacks.setdefault(one.reviewer, [])
            if one.decision != "undo":
                stack.append(number)
                counting[number] = one
            elif stack:
                del counting[stack.pop()]
        self.last = {name: counting[stack[-1]] for name, stack in stacks.items() if stack}
        """What each person would take back."""
        self.of_item: dict[str, dict[str, Review]] = {}
        """The independent reviews by item and person."""
        self.final: dict[str, Review] = {}
        """The last decision by somebody who saw the others', by item."""
        self.calibration: dict[str, dict[str, Review]] = {}
        """By person, then by item of the calibration set."""
        self.seconds: dict[str, list[float]] = {}
        """How long reviews took, by person."""
        for one in counting.values():
            if one.decision == "tag":
                continue
            if one.seconds:
                self.seconds.setdefault(one.reviewer, []).append(one.seconds)
            if one.calibration:
                self.calibration.setdefault(one.reviewer, {})[one.item] = one
            elif one.final:
                self.final[one.item] = one
            else:
                self.of_item.setdefault(one.item, {})[one.reviewer] = one


def read_log(path: Path) -> list[Review]:
    """The reviews of a log; none where there is no file.

    Args:
        path: of the log.

    Raises:
        InputError: a line is wrong; with its number. A last line that was never finished is
            left out: the review before the power failed was not confirmed to anybody.
    """
    reviews = []
    for number, record in records_in(path):
        try:
            reviews.append(Review.model_validate(record))
        except ValidationError as error:
            raise wrong_record(error, path, number) from error
    return reviews


def records_in(path: Path) -> Iterator[tuple[int, Any]]:
    """The records of a log with their line numbers; none where there is no file. A last line that
    was never finished is left out; one that lacks its line ending alone, as editors leave it, is
    none of these.

    Args:
        path: of the log.

    Raises:
        InputError: a line is not JSON; with its number.
    """
    if not path.is_file():
        return
    *lines, last = path.read_bytes().split(b"\n")
    if _is_record(last):
        lines.append(last)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, json_value(line, path, number)


def _is_record(line: bytes) -> bool:
    """Whether a line holds a complete record: the beginning of an object is no JSON."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def now() -> str:
    """The time of a line, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Adds a record to a log; it is on disk afterwards.

    Args:
        path: of the log.
        record: to add.
    """
    line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    with path.open("a+b") as stream:
        if stream.seek(0, os.SEEK_END):
            stream.seek(-1, os.SEEK_END)
            if stream.read(1) != b"\n":
                content = path.read_bytes()
                begin = content.rfind(b"\n") + 1
                if _is_record(content[begin:]):
                    line = b"\n" + line
                else:  # an unfinished line is no record
                    stream.truncate(begin)
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())
