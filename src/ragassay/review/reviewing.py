"""People decide on many things of a golden set, several at a time: what each waits for, who said
what, undo. A log holds a line a decision, and no line is ever changed."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragassay.base.errors import InputError, UsageError, validation_problem
from ragassay.base.files import write_bytes
from ragassay.formats.sources.json_files import parse_json
from ragassay.golden import QUERIES
from ragassay.golden.documents import Document
from ragassay.golden.golden_folder import MANIFEST, GoldenSet, alone
from ragassay.golden.golden_item import GoldenItem, wrong_record


class Entry(BaseModel, ABC):
    """A line of the file ``log`` of a golden set: what a person decided on an item, or answered
    to a question; people call it a ``piece``."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    piece: ClassVar[str]
    log: ClassVar[str]

    key: str = Field(description="Of the item or question")
    who: str
    at: str = Field("", description="When, in UTC; empty where the line does not say")
    seconds: float = Field(0.0, ge=0, description="How long the person had it before them")
    undo: bool = Field(False, description="Takes the person's last entry back")
    final: bool = Field(False, description="By somebody who saw what others had decided")
    calibration: bool = Field(False, description="About something whose answer is known")
    right: bool | None = Field(None, description="As it is known")

    @property
    def counts(self) -> bool:
        """Whether it is a decision; else only an undo sees it."""
        return True

    @property
    def empty(self) -> bool:
        """Whether it takes the person's decision before away."""
        return False

    @classmethod
    @abstractmethod
    def of_record(cls, record: Mapping[str, Any], number: int) -> Self:
        """Reads a line; also given its number."""

    @classmethod
    @abstractmethod
    def differ(cls, several: Sequence[Any]) -> bool:
        """Whether entries of several people on one thing differ."""


E = TypeVar("E", bound=Entry)
F = TypeVar("F", bound=Entry)


class Standing(Generic[E]):
    """What counts: each person's last word, without what was taken back: the independent entries by
    key and person, the final ones (by people who saw the others') alike, known ones by person and
    key, and the seconds that decisions took, by person."""

    def __init__(self, entries: Iterable[E]) -> None:
        self.of: dict[str, dict[str, E]] = {}
        self.final: dict[str, dict[str, E]] = {}
        self.known: dict[str, dict[str, E]] = {}
        self.seconds: dict[str, list[float]] = {}
        self._stacks: dict[str, list[E]] = {}
        counting: dict[int, E] = {}
        for entry in entries:
            stack = self._stacks.setdefault(entry.who, [])
            if not entry.undo:
                stack.append(entry)
                counting[id(entry)] = entry
            elif stack:
                del counting[id(stack.pop())]
                # What counts again is last, as in a file of labels that a run replays.
                if before := self._before(stack, entry):
                    counting[id(before)] = counting.pop(id(before))
        for entry in counting.values():
            if not entry.counts:
                continue
            if entry.seconds:
                self.seconds.setdefault(entry.who, []).append(entry.seconds)
            group, key, name = self.final if entry.final else self.of, entry.key, entry.who
            if entry.calibration:
                group, key, name = self.known, entry.who, entry.key
            said = group.setdefault(key, {})
            said.pop(name, None)
            if not entry.empty:
                said[name] = entry

    @staticmethod
    def _before(stack: Sequence[E], like: E) -> E | None:
        wanted = like.key, like.calibration
        return next(
            (item for item in reversed(stack) if (item.key, item.calibration) == wanted), None
        )

    def last(self, who: str) -> tuple[E, E | None] | None:
        """What a person would take back, and what this person had said of the same thing before."""
        stack = self._stacks.get(who)
        return (stack[-1], self._before(stack[:-1], stack[-1])) if stack else None

    def own(self, key: str, who: str) -> E | None:
        """What a person said of a thing: the final word, where there is one."""
        return self.final.get(key, {}).get(who) or self.of.get(key, {}).get(who)

    def settled(self, key: str) -> E | None:
        """The entry that settles a thing, where there is one."""
        return next(reversed(self.final.get(key, {}).values()), None)

    def disagree(self, key: str) -> bool:
        """Whether people who did not see what others said said different things."""
        said = list(self.of.get(key, {}).values())
        return len(said) > 1 and said[0].differ(said)


def lines_in(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a log with their numbers; none where there is no file. A last line that was
    never finished is left out: what it says was not confirmed to anybody. One that lacks its line
    ending alone, as editors leave it, counts."""
    if not path.is_file():
        return
    *lines, last = path.read_bytes().split(b"\n")
    with suppress(orjson.JSONDecodeError):  # the beginning of an object is no JSON
        orjson.loads(last)
        lines.append(last)
    yield from ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def now() -> str:
    """The time of a line, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Adds a record to a log; it is on disk afterwards."""
    lines = [line for _, line in lines_in(path)]
    write_bytes(path, b"\n".join([*lines, orjson.dumps(record), b""]))


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


State = Literal["todo", "done", "waiting", "disagreement"]


@dataclass(frozen=True)
class Thing:
    """What ``needs`` people decide on; ``closed``: nothing more is to be decided; ``by``: who
    decided by the set, also without a line of the log; ``calibration``: its answer is known."""

    key: str
    about: Mapping[str, Any] = field(default_factory=dict)
    needs: int = 1
    closed: bool = False
    by: str = ""
    calibration: bool = False

    def is_of(self, reviewer: str, standing: Standing[Any]) -> bool:
        """Whether a person decided on it."""
        if self.calibration:
            return self.key in standing.known.get(reviewer, ())
        return self.by == reviewer or standing.own(self.key, reviewer) is not None

    def state(self, reviewer: str, standing: Standing[Any]) -> State:
        """What it waits for: ``todo``: a decision by this person; ``waiting``: others;
        ``disagreement``: somebody who settles it; ``done``: nothing."""
        if self.calibration:
            return "done" if self.is_of(reviewer, standing) else "todo"
        said = standing.of.get(self.key, {})
        if self.closed:
            return "done"
        if len(said) >= max(self.needs, 2):
            return "disagreement"
        return "waiting" if reviewer in said else "todo"


class Reviewing(ABC, Generic[E]):
    """A golden set's folder as it is now, and decisions by several people at a time in its log.
    Whoever writes holds the folder's lock and reads the folder again. A subclass says what the
    things are and what a decision does."""

    kind: type[E]

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cache: dict[tuple[object, ...], tuple[object, Any]] = {}
        self.golden()
        self.settings()

    @abstractmethod
    def things(self, where: Sequence[str] = ()) -> list[Thing]:
        """What is decided on, what has known answers first."""

    @abstractmethod
    def _restored(self, last: E, before: E | None) -> Mapping[str, Any]:
        """Undoes an entry; gives the line for the log."""

    def golden(self, *, calibration: bool = False) -> GoldenSet:
        """The golden set, or the one with known answers."""
        folder = self.folder
        if calibration:
            name = self.settings().calibration
            if name is None:
                raise UsageError("There is no set with known answers.")
            folder = folder / name
        return self.fresh("set", lambda: GoldenSet.open(folder), folder / QUERIES)

    def item(self, item_id: str, *, calibration: bool = False) -> GoldenItem:
        """An item."""
        item = self.golden(calibration=calibration).item(item_id)
        if item is None:
            raise UsageError(f"There is no item {item_id!r} in the set.")
        return item

    def documents(self, *, calibration: bool = False) -> Mapping[str, Document]:
        """The documents by id; read again when ``documents.json`` is another one, as after 'golden
        anchor': the spans then count in what the documents are now."""
        golden = self.golden(calibration=calibration)
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

    def logged(self, kind: type[F]) -> list[F]:
        """The entries of a log."""
        path = self.folder / kind.log

        def entry(number: int, line: bytes) -> F:
            try:
                record = parse_json(line, path, number)
                if not isinstance(record, dict):
                    raise InputError("is not a JSON object")
                return kind.of_record(record, number)
            except InputError as error:
                raise error.at(path=path, line=number) from error

        return self.fresh("log", lambda: [entry(*pair) for pair in lines_in(path)], path)

    def standing(self, kind: type[F]) -> Standing[F]:
        """What people said that counts."""
        path = self.folder / kind.log
        return self.fresh("standing", lambda: Standing(self.logged(kind)), path)

    def current(self) -> Standing[E]:
        """Which decisions count now."""
        return self.standing(self.kind)

    def fresh(self, what: str, read: Callable[[], T], path: Path) -> T:
        """What was read of a file, read again when the file is another one."""
        try:
            status = path.stat()
            mark = status.st_ino, status.st_mtime_ns, status.st_size
        except FileNotFoundError:
            mark = None
        cached = self._cache.get((what, path))
        if cached is None or cached[0] != mark:
            # The mark is older than what is read: at worst the next look reads once more.
            cached = self._cache[what, path] = (mark, read())
        value: T = cached[1]
        return value

    def entries(self, reviewer: str, where: Sequence[str] = ()) -> list[dict[str, Any]]:
        """All things in a few words, with the ``state`` of each (see `Thing.state`) and whether
        this person decided on it (``mine``)."""
        standing = self.current()
        return [
            {
                "key": thing.key,
                "calibration": thing.calibration,
                **thing.about,
                "state": thing.state(reviewer, standing),
                "mine": thing.is_of(reviewer, standing),
            }
            for thing in self.things(where)
        ]

    def progress(self, reviewer: str) -> dict[str, int]:
        """How many things are ``done`` of all (``total``), how many by this person (``mine``), and
        decisions that are missing (``left``)."""
        standing = self.current()
        things = [thing for thing in self.things() if not thing.calibration]
        missing = [
            max(thing.needs - len(standing.of.get(thing.key, ())), 1)
            for thing in things
            if not thing.closed
        ]
        return {
            "done": len(things) - len(missing),
            "total": len(things),
            "mine": sum(thing.is_of(reviewer, standing) for thing in things),
            "left": sum(missing),
        }

    @contextmanager
    def deciding(self, reviewer: str) -> Iterator[None]:
        """Holds the folder's lock for a decision."""
        if not reviewer.strip():
            raise UsageError(f"A {self.kind.piece} needs the name of its reviewer.")
        with alone(self.folder):
            yield

    def write(self, record: Mapping[str, Any]) -> None:
        """Adds a line to the log."""
        append(self.folder / self.kind.log, record)

    def undo(self, reviewer: str) -> E:
        """Takes a person's last decision back, and gives it."""
        with self.deciding(reviewer):
            found = self.current().last(reviewer)
            if found is None:
                raise UsageError(f"{reviewer} has no {self.kind.piece} to undo.")
            self.write(self._restored(*found))
        return found[0]
