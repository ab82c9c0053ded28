"""Reviews written into the folder of a golden set, by several people at a time.

Whoever writes holds the folder's lock, reads the folder anew and says which version of the item was
decided on: nobody writes over another's change.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson
from pydantic import ValidationError

from ragassay.base.errors import UsageError
from ragassay.base.files import write_bytes
from ragassay.base.problem_words import validation_problem
from ragassay.golden import QUERIES
from ragassay.golden.documents import Document
from ragassay.golden.golden_folder import MANIFEST, GoldenSet, alone
from ragassay.golden.golden_item import GoldenItem, wrong_record
from ragassay.review.review_editing import changes_of, edited, outcome
from ragassay.review.review_log import Decision, Review, Standing, append, now, read_log
from ragassay.review.review_settings import ReviewSettings

LOG = "reviews.jsonl"
SETTINGS = "review.json"
INSTRUCTIONS = "instructions.md"

State = Literal["todo", "done", "waiting", "disagreement"]
T = TypeVar("T")


class ReviewConflictError(UsageError):
    """Somebody changed the item in the meantime.

    Args:
        sentence: that says so.
        item: as it is now.
    """

    def __init__(self, sentence: str, item: GoldenItem | None = None) -> None:
        super().__init__(sentence)
        self.item = item


def version_of(item: GoldenItem) -> str:
    """The version of an item: a hash of its line.

    Args:
        item: of a golden set.
    """
    digest = hashlib.blake2b(orjson.dumps(item.to_record()), digest_size=8).hexdigest()
    return f"v{digest}"  # which no spreadsheet takes for a number


class ReviewStore:
    """A golden set under review.

    Args:
        folder: of the golden set.

    Raises:
        InputError: it is none, or a file of it is wrong.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cache: dict[Path, tuple[object, Any]] = {}
        self.golden()
        self.settings()

    def golden(self) -> GoldenSet:
        """The golden set as it is now."""
        return self.fresh(self.folder / QUERIES, lambda: GoldenSet.open(self.folder))

    def standing(self) -> Standing:
        """Which reviews count now."""
        path = self.folder / LOG
        return self.fresh(path, lambda: Standing(read_log(path)))

    def settings(self) -> ReviewSettings:
        """How the set is reviewed.

        Raises:
            InputError: the file of settings is wrong.
        """
        path = self.folder / SETTINGS

        def read() -> ReviewSettings:
            body = path.read_bytes() if path.is_file() else b"{}"
            try:
                return ReviewSettings.model_validate_json(body)
            except ValidationError as error:
                raise wrong_record(error, path) from error

        return self.fresh(path, read)

    def change_settings(self, **fields: Any) -> ReviewSettings:
        """Keeps settings for all reviewers.

        Args:
            **fields: of `ReviewSettings`.

        Raises:
            UsageError: a value is impossible.
        """
        with alone(self.folder):
            try:
                settings = ReviewSettings(**{**self.settings().model_dump(), **fields})
            except ValidationError as error:
                raise UsageError(f"--{validation_problem(error)}.") from error
            body = orjson.dumps(settings.model_dump(), option=orjson.OPT_INDENT_2)
            write_bytes(self.folder / SETTINGS, body)
        return settings

    def calibration(self) -> GoldenSet | None:
        """The set with known answers, where there is one."""
        name = self.settings().calibration
        if name is None:
            return None
        folder = self.folder / name
        return self.fresh(folder / QUERIES, lambda: GoldenSet.open(folder))

    def item(self, item_id: str, *, calibration: bool = False) -> GoldenItem:
        """An item as it is now.

        Args:
            item_id: its id.
            calibration: it is one of the calibration set.

        Raises:
            UsageError: there is no such item.
        """
        golden = self.calibration() if calibration else self.golden()
        item = golden.item(item_id) if golden else None
        if item is None:
            raise UsageError(f"There is no item {item_id!r} in the set.")
        return item

    def documents(self, *, calibration: bool = False) -> Mapping[str, Document]:
        """The documents by id; read again when ``documents.json`` is another one, as after 'golden
        anchor': the spans then count in what the documents are now.

        Args:
            calibration: those of the calibration set.
        """
        golden = self.calibration() if calibration else self.golden()
        if golden is None:
            return {}
        return self.fresh(golden.folder / MANIFEST, golden.documents)

    def instructions(self) -> str:
        """The text of the folder's file for reviewers; empty where there is none."""
        path = self.folder / INSTRUCTIONS
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def states(self, items: Iterable[GoldenItem], reviewer: str) -> list[State]:
        """What items wait for.

        Args:
            items: of the set.
            reviewer: who asks.

        Returns:
            For each ``todo``: for a review by this person. ``waiting``: for others.
            ``disagreement``: for somebody who settles it. ``done``: for nothing.
        """
        standing, settings = self.standing(), self.settings()

        def state(item: GoldenItem) -> State:
            if item.status != "draft":
                return "done"
            reviews = standing.of_item.get(item.id, {})
            if len(reviews) >= settings.needs(item.id) > 1:
                return "disagreement"
            return "waiting" if reviewer in reviews else "todo"

        return [state(item) for item in items]

    def review(
        self,
        item_id: str,
        reviewer: str,
        decision: Literal["accept", "reject", "tag"],
        version: str,
        *,
        fields: Mapping[str, Any] | None = None,
        seconds: float = 0.0,
        calibration: bool = False,
    ) -> Review:
        """Takes a decision down and carries it out.

        An item that several people review stays as it is until all have decided: it is changed when
        they decided alike, and else waits for somebody who settles it.

        Args:
            item_id: of the item.
            reviewer: who decided.
            decision: ``tag`` changes the tags alone.
            version: of the item that was decided on.
            fields: new values of `EDITABLE` fields; spans of the gold need document, start and end.
            seconds: that it took.
            calibration: the item is one of the calibration set.

        Returns:
            The review, as the log has it.

        Raises:
            ReviewConflictError: the item is another one by now.
            UsageError: there is no such item, or a name or value is impossible.
        """
        if not reviewer.strip():
            raise UsageError("A review needs the name of its reviewer.")
        record = {"item": item_id, "reviewer": reviewer, "at": now()}
        with alone(self.folder):
            item = self.item(item_id, calibration=calibration)
            if version_of(item) != version:
                by = f" by {item.reviewer}" if item.reviewer else ""
                raise ReviewConflictError(
                    f"{item_id}: the item was changed{by} in the meantime.", item
                )
            wanted = edited(
                item, fields or {}, reviewer, lambda: self.documents(calibration=calibration)
            )
            changes = changes_of(item, wanted)
            recorded: Decision = decision
            if decision == "accept" and set(changes) - {"tags"}:
                recorded = "edit"
            if calibration:
                right = (recorded == "reject") == (item.status == "rejected")
                more: dict[str, Any] = {"applied": False, "calibration": True, "right": right}
            elif decision == "tag":
                if set(changes) - {"tags"}:
                    raise UsageError("A change of more than tags is accepted or rejected.")
                more = {}
            else:
                (state,) = self.states([item], reviewer)
                final = state in ("done", "disagreement")
                applied = final or self._agreed(item.id, reviewer, recorded, changes)
                if applied:
                    wanted.status = "rejected" if recorded == "reject" else "accepted"
                    wanted.reviewer, wanted.verified_on = reviewer, datetime.now(UTC).date()
                    if recorded == "edit" and wanted.origin == "synthetic":
                        wanted.origin = "edited"
                    changes = changes_of(item, wanted)
                more = {"applied": applied, "final": final}
            more["seconds"] = round(max(seconds, 0.0), 1)
            review = Review(**record, decision=recorded, changes=changes, **more)
            if review.applied and changes:
                self._replace(wanted)
            append(self.folder / LOG, review.to_record())
        return review

    def undo(self, reviewer: str) -> Review:
        """Takes a person's last review back.

        Args:
            reviewer: whose.

        Returns:
            The review that was taken back.

        Raises:
            ReviewConflictError: somebody changed the same fields since, or the item was settled.
            UsageError: there is none.
        """
        with alone(self.folder):
            last = self.standing().last.get(reviewer)
            if last is None:
                raise UsageError(f"{reviewer} has no review to take back.")
            if not last.calibration:
                item = self.golden().item(last.item)
                if item is None:
                    raise ReviewConflictError(f"{last.item}: the item is no longer in the set.")
                record = item.model_dump(mode="json")
                theirs = [
                    name for name, (_, after) in last.changes.items() if record[name] != after
                ]
                if last.applied and theirs:
                    change = f"{', '.join(theirs)} changed since your review"
                    raise ReviewConflictError(
                        f"{last.item}: {change}; nothing was taken back.", item
                    )
                if not last.applied and item.status != "draft":
                    raise ReviewConflictError(
                        f"{last.item}: {item.reviewer} settled it since.", item
                    )
                if last.applied and last.changes:
                    before = {name: old for name, (old, _) in last.changes.items()}
                    self._replace(GoldenItem.model_validate({**record, **before}))
            undone = Review(item=last.item, reviewer=reviewer, at=now(), decision="undo")
            append(self.folder / LOG, undone.to_record())
        return last

    def progress(self, reviewer: str) -> dict[str, Any]:
        """How far the review is.

        Args:
            reviewer: who asks.

        Returns:
            See `progress_of`: counts of items and reviews.
        """
        standing, settings = self.standing(), self.settings()
        # A disagreement takes one more.
        missing = [
            max(settings.needs(item.id) - len(standing.of_item.get(item.id, ())), 1)
            if item.status == "draft"
            else 0
            for item in self.golden().items
        ]
        mine = sum(reviewer in reviews for reviews in standing.of_item.values())
        mine += sum(one.reviewer == reviewer for one in standing.final.values())
        return progress_of(missing, mine, standing.seconds)

    def _agreed(
        self, item: str, reviewer: str, decision: str, changes: Mapping[str, tuple[Any, Any]]
    ) -> bool:
        """Whether this review and those of others suffice, and say the same."""
        reviews = self.standing().of_item.get(item, {})
        others = [one for name, one in reviews.items() if name != reviewer]
        if len(others) + 1 < self.settings().needs(item):
            return False
        own = outcome(decision, changes)
        return all(outcome(one.decision, one.changes) == own for one in others)

    def _replace(self, item: GoldenItem) -> None:
        golden = self.golden()
        items = [item if one.id == item.id else one for one in golden.items]
        golden = replace(golden, items=items)
        golden.save()
        # Nobody else writes now: what was written need not be read again.
        path = golden.folder / QUERIES
        self._cache[path] = (mark_of(path), golden)

    def fresh(self, path: Path, read: Callable[[], T]) -> T:
        """What was read of a file, read again when the file is another one.

        Args:
            path: of the file.
            read: reads it.
        """
        mark = mark_of(path)
        cached = self._cache.get(path)
        if cached is None or cached[0] != mark:
            # The mark is older than what is read: at worst the next look reads once more.
            cached = self._cache[path] = (mark, read())
        value: T = cached[1]
        return value


def progress_of(
    missing: Sequence[int], mine: int, seconds: Mapping[str, Sequence[float]]
) -> dict[str, Any]:
    """How far a review or labelling is.

    Args:
        missing: for each item or question how many reviews or labels it waits for, by anybody.
        mine: reviews or labels by the person who asks.
        seconds: that each took, by person.

    Returns:
        ``done`` and ``total`` items or questions, ``mine``, ``left`` (reviews or labels that are
        missing), ``seconds`` (median of one; ``None`` before the first) and ``seconds_left``.
    """
    times = [one for of_person in seconds.values() for one in of_person]
    median, left = statistics.median(times) if times else None, sum(missing)
    return {
        "done": sum(not n for n in missing),
        "total": len(missing),
        "mine": mine,
        "left": left,
        "seconds": median,
        "seconds_left": None if median is None else median * left,
    }


def mark_of(path: Path) -> object:
    """A value that changes when a file is written anew; ``None`` where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
