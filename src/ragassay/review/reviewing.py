"""People decide on many things, several at a time: what each waits for, who said what, undo."""

from __future__ import annotations

import statistics
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ragassay.base.errors import UsageError
from ragassay.golden.golden_folder import alone
from ragassay.review.review_folder import ReviewFolder
from ragassay.review.review_log import Entry, Kind, Standing, append

State = Literal["todo", "done", "waiting", "disagreement"]


@dataclass(frozen=True)
class Thing:
    """What is decided on.

    Attributes:
        key: of the item or question.
        told: about it in a list.
        needs: how many people decide.
        closed: nothing more is to be decided.
        by: who decided on it by the set, also without a line of the log.
        calibration: its answer is known.
    """

    key: str
    told: Mapping[str, Any] = field(default_factory=dict)
    needs: int = 1
    closed: bool = False
    by: str = ""
    calibration: bool = False

    def is_of(self, reviewer: str, standing: Standing) -> bool:
        """Whether a person decided on it."""
        if self.calibration:
            return self.key in standing.known.get(reviewer, ())
        return self.by == reviewer or standing.own(self.key, reviewer) is not None

    def state(self, reviewer: str, standing: Standing) -> State:
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


class Reviewing(ReviewFolder, ABC):
    """Decisions by several people at a time, kept in a log of the golden set's folder.

    Whoever writes holds the folder's lock and reads the folder anew. What several decide on waits
    until all have; where they differ, the next decision by anybody settles it. Things with known
    answers come first. A subclass says what the things are and what a decision does.
    """

    kind: ClassVar[Kind]

    @abstractmethod
    def things(self, where: Sequence[str] = ()) -> list[Thing]:
        """What is decided on."""

    @abstractmethod
    def known_things(self) -> list[Thing]:
        """What has known answers, in the calibration set."""

    @abstractmethod
    def changed(self, key: str, *, calibration: bool) -> list[Thing]:
        """What may stand otherwise in the list after a decision."""

    @abstractmethod
    def _restored(self, last: Entry, before: Entry | None) -> Mapping[str, Any]:
        """Undoes an entry.

        Returns:
            The line for the log.
        """

    def current(self) -> Standing:
        """Which decisions count now."""
        return self.standing(self.kind)

    def entries(self, reviewer: str, where: Sequence[str] = ()) -> list[dict[str, Any]]:
        """All things in a few words, those with known answers first; see `listed`."""
        return self.listed([*self.known_things(), *self.things(where)], reviewer)

    def listed(self, things: Iterable[Thing], reviewer: str) -> list[dict[str, Any]]:
        """Things in a few words.

        Returns:
            For each its ``key``, ``calibration`` (its answer is known), what else is told,
            ``state`` (see `Thing.state`) and ``mine``: this person decided on it.
        """
        standing = self.current()
        return [
            {
                "key": one.key,
                "calibration": one.calibration,
                **one.told,
                "state": one.state(reviewer, standing),
                "mine": one.is_of(reviewer, standing),
            }
            for one in things
        ]

    def progress(self, reviewer: str) -> dict[str, Any]:
        """How far all are.

        Returns:
            ``done`` and ``total`` things, ``mine`` (those that this person decided on), ``left``
            (decisions that are missing; a disagreement takes one more), ``seconds`` (median of a
            decision; ``None`` before the first) and ``seconds_left``.
        """
        standing, things = self.current(), self.things()
        open_things = [one for one in things if not one.closed]
        left = sum(max(one.needs - len(standing.of.get(one.key, ())), 1) for one in open_things)
        times = [one for of_person in standing.seconds.values() for one in of_person]
        median = statistics.median(times) if times else None
        return {
            "done": len(things) - len(open_things),
            "total": len(things),
            "mine": sum(one.is_of(reviewer, standing) for one in things),
            "left": left,
            "seconds": median,
            "seconds_left": None if median is None else median * left,
        }

    @contextmanager
    def deciding(self, reviewer: str) -> Iterator[None]:
        """Holds the folder's lock for a decision."""
        if not reviewer.strip():
            raise UsageError(f"A {self.kind.piece} needs the name of its reviewer.")
        with alone(self.folder):
            yield

    def write(self, record: Mapping[str, Any], *, calibration: bool = False) -> None:
        """Adds a line to the log."""
        name = self.kind.known_log if calibration else ""
        append(self.folder / (name or self.kind.log), record)

    def undo(self, reviewer: str) -> Entry:
        """Takes a person's last decision back.

        Returns:
            What was taken back.
        """
        with self.deciding(reviewer):
            found = self.current().last(reviewer)
            if found is None:
                raise UsageError(f"{reviewer} has no {self.kind.piece} to take back.")
            self.write(self._restored(*found), calibration=found[0].calibration)
        return found[0]
