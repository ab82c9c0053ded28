"""A golden set's folder under review: what is read again once somebody else has written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from heapq import merge
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragassay.base.errors import InputError, UsageError
from ragassay.base.files import write_bytes
from ragassay.base.problem_words import validation_problem
from ragassay.golden import QUERIES
from ragassay.golden.documents import Document
from ragassay.golden.golden_folder import MANIFEST, GoldenSet, alone, json_value
from ragassay.golden.golden_item import GoldenItem, wrong_record
from ragassay.review.review_log import Entry, Kind, Standing, lines_in

SETTINGS = "review.json"
INSTRUCTIONS = "instructions.md"
T = TypeVar("T")


class ReviewSettings(BaseModel):
    """How a golden set is reviewed; kept in the folder, so that it holds for all reviewers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    overlap: float = Field(0.0, ge=0, le=1, description="Share of items that several review")
    people: int = Field(2, ge=2, description="How many review each of those")
    calibration: str | None = Field(None, description="Golden set with known answers, shown first")

    def needs(self, item: str) -> int:
        """How many people review an item."""
        share = int.from_bytes(hashlib.blake2b(item.encode(), digest_size=8).digest()) / 2**64
        return self.people if share < self.overlap else 1


class ReviewFolder:
    """A golden set's folder, its settings and its logs, as they are now."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cache: dict[tuple[object, ...], tuple[object, Any]] = {}
        self._lines: dict[tuple[Path, int, bytes], Entry] = {}
        self.golden()
        self.settings()

    def golden(self) -> GoldenSet:
        """The golden set."""
        return self.fresh("set", lambda: GoldenSet.open(self.folder), self.folder / QUERIES)

    def calibration(self) -> GoldenSet | None:
        """The set with known answers, where there is one."""
        name = self.settings().calibration
        if name is None:
            return None
        folder = self.folder / name
        return self.fresh("set", lambda: GoldenSet.open(folder), folder / QUERIES)

    def item(self, item_id: str, *, calibration: bool = False) -> GoldenItem:
        """An item."""
        golden = self.calibration() if calibration else self.golden()
        item = golden.item(item_id) if golden else None
        if item is None:
            raise UsageError(f"There is no item {item_id!r} in the set.")
        return item

    def documents(self, *, calibration: bool = False) -> Mapping[str, Document]:
        """The documents by id; read again when ``documents.json`` is another one, as after 'golden
        anchor': the spans then count in what the documents are now."""
        golden = self.calibration() if calibration else self.golden()
        if golden is None:
            return {}
        return self.fresh("documents", golden.documents, golden.folder / MANIFEST)

    def instructions(self) -> str:
        """The text of the folder's file for reviewers; empty where there is none."""
        path = self.folder / INSTRUCTIONS
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def settings(self) -> ReviewSettings:
        """How the set is reviewed."""
        path = self.folder / SETTINGS

        def read() -> ReviewSettings:
            body = path.read_bytes() if path.is_file() else b"{}"
            try:
                return ReviewSettings.model_validate_json(body)
            except ValidationError as error:
                raise wrong_record(error, path) from error

        return self.fresh("settings", read, path)

    def change_settings(self, **fields: Any) -> ReviewSettings:
        """Keeps settings for all reviewers."""
        with alone(self.folder):
            try:
                settings = ReviewSettings(**{**self.settings().model_dump(), **fields})
            except ValidationError as error:
                raise UsageError(f"--{validation_problem(error)}.") from error
            body = orjson.dumps(settings.model_dump(), option=orjson.OPT_INDENT_2)
            write_bytes(self.folder / SETTINGS, body)
        return settings

    def logged(self, kind: Kind, path: Path) -> list[Entry]:
        """The entries of a log; each line is read once."""

        def entry(number: int, line: bytes) -> Entry:
            found = self._lines.get((path, number, line))
            if found is None:
                try:
                    record = json_value(line, path, number)
                    if not isinstance(record, dict):
                        raise InputError("is not a JSON object")
                    found = kind.entry(record, number)
                except InputError as error:
                    raise error.at(path=path, line=number) from error
                if path.name == kind.known_log:
                    found = replace(found, calibration=True)
                self._lines[path, number, line] = found
            return found

        return self.fresh("log", lambda: [entry(*one) for one in lines_in(path)], path)

    def standing(self, kind: Kind, folder: Path | None = None) -> Standing:
        """What people said that counts."""
        paths = [(folder or self.folder) / name for name in (kind.log, kind.known_log) if name]

        def read() -> Standing:
            logs = [self.logged(kind, path) for path in paths]
            return Standing(merge(*logs, key=lambda one: one.at), kind.differ)

        return self.fresh("standing", read, *paths)

    def fresh(self, what: str, read: Callable[[], T], *paths: Path) -> T:
        """What was read of files, read again when one of them is another one."""
        key, marks = (what, *paths), [mark_of(path) for path in paths]
        cached = self._cache.get(key)
        if cached is None or cached[0] != marks:
            # The marks are older than what is read: at worst the next look reads once more.
            cached = self._cache[key] = (marks, read())
        value: T = cached[1]
        return value

    def replace_item(self, item: GoldenItem) -> None:
        """Writes an item into the set; whoever calls holds the folder's lock."""
        golden = self.golden()
        items = [item if one.id == item.id else one for one in golden.items]
        golden = replace(golden, items=items)
        golden.save()
        # Nobody else writes now: what was written need not be read again.
        path = golden.folder / QUERIES
        self._cache["set", path] = ([mark_of(path)], golden)


def mark_of(path: Path) -> object:
    """A value that changes when a file is written anew; ``None`` where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
