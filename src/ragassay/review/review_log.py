"""Logs of what people said of items and of answers: a line a decision, never changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson


@dataclass(frozen=True)
class Entry:
    """A line of a log.

    Attributes:
        key: of the item or question that a person spoke of.
        at: when, in UTC; empty where the line does not say.
        seconds: that it took; 0 where nobody measured it.
        undo: takes the person's last entry back.
        counts: it is a decision; else only an undo sees it.
        empty: it takes the person's decision before away.
        final: by somebody who saw what others had said.
        calibration: about something whose answer is known.
        right: what was said is what is known.
    """

    key: str
    who: str
    said: Any
    at: str = ""
    seconds: float = 0.0
    undo: bool = False
    counts: bool = True
    empty: bool = False
    final: bool = False
    calibration: bool = False
    right: bool = False


@dataclass(frozen=True)
class Kind:
    """What people decide on: items of a golden set, or questions about answers.

    Attributes:
        log: file of the decisions in the folder of the golden set.
        known_log: file of those on what has a known answer, where it is another.
        entry: reads a record of a log; also given the number of its line.
        differ: whether what several people said of one thing differs.
    """

    piece: str
    log: str
    known_log: str
    entry: Callable[[Mapping[str, Any], int], Entry]
    differ: Callable[[Sequence[Any]], bool]


Said = dict[str, dict[str, Entry]]


class Standing:
    """What counts: each person's last word on each thing, without what was taken back.

    Attributes:
        of: the independent entries by key, then by person.
        final: those by people who saw the others', in the same way.
        known: those on what has a known answer, by person, then by key.
        seconds: that decisions took, by person.
    """

    def __init__(self, entries: Iterable[Entry], differ: Callable[[Sequence[Any]], bool]) -> None:
        self.of: Said = {}
        self.final: Said = {}
        self.known: Said = {}
        self.seconds: dict[str, list[float]] = {}
        self._differ, self._disagree = differ, dict[str, bool]()
        self._stacks: dict[str, list[Entry]] = {}
        counting: dict[int, Entry] = {}
        for one in entries:
            stack = self._stacks.setdefault(one.who, [])
            if not one.undo:
                stack.append(one)
                counting[id(one)] = one
            elif stack:
                del counting[id(stack.pop())]
                # What counts again stands last: so it does in a file of labels that a run replays.
                if before := self._before(stack, one):
                    counting[id(before)] = counting.pop(id(before))
        for one in counting.values():
            if one.counts:
                self._take(one)

    def _take(self, one: Entry) -> None:
        if one.seconds:
            self.seconds.setdefault(one.who, []).append(one.seconds)
        group, key, name = self.final if one.final else self.of, one.key, one.who
        if one.calibration:
            group, key, name = self.known, one.who, one.key
        said = group.setdefault(key, {})
        said.pop(name, None)
        if not one.empty:
            said[name] = one

    @staticmethod
    def _before(stack: Sequence[Entry], like: Entry) -> Entry | None:
        wanted = like.key, like.calibration
        return next((one for one in reversed(stack) if (one.key, one.calibration) == wanted), None)

    def last(self, who: str) -> tuple[Entry, Entry | None] | None:
        """What a person would take back, and what this person had said of the same thing before."""
        stack = self._stacks.get(who)
        return (stack[-1], self._before(stack[:-1], stack[-1])) if stack else None

    def own(self, key: str, who: str) -> Entry | None:
        """What a person said of a thing: the final word, where there is one."""
        return self.final.get(key, {}).get(who) or self.of.get(key, {}).get(who)

    def all_of(self, key: str) -> list[Entry]:
        """All entries on a thing: the independent ones, then the final ones."""
        return [*self.of.get(key, {}).values(), *self.final.get(key, {}).values()]

    def settled(self, key: str) -> Entry | None:
        """The entry that settles a thing, where there is one."""
        return next(reversed(self.final.get(key, {}).values()), None)

    def disagree(self, key: str) -> bool:
        """Whether people who did not see what others said said different things."""
        if key not in self._disagree:
            said = [one.said for one in self.of.get(key, {}).values()]
            self._disagree[key] = len(said) > 1 and self._differ(said)
        return self._disagree[key]


def lines_in(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a log with their numbers; none where there is no file. A last line that was
    never finished is left out: what it says was not confirmed to anybody. One that lacks its line
    ending alone, as editors leave it, counts."""
    if not path.is_file():
        return
    *lines, last = path.read_bytes().split(b"\n")
    if _is_record(last):
        lines.append(last)
    yield from ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


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
    """Adds a record to a log; it is on disk afterwards."""
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
