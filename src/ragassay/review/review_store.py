"""Reviews of the items of a golden set. Whoever decides says which version of the item was decided
on: nobody writes over another's change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, Self, get_args

import orjson
from pydantic import Field, ValidationError

from ragassay.base.errors import InputError, UsageError
from ragassay.base.subsets import Subset
from ragassay.golden.documents import Document, names_of
from ragassay.golden.golden_item import GoldenItem, GoldSpan, Status, wrong_record
from ragassay.review.reviewing import Entry, Reviewing, Thing, now

Decision = Literal["accept", "edit", "reject", "tag", "undo"]

Editable = Literal[
    "query", "references", "negative_references", "gold", "answerability", "type",
    "complexity", "style", "language", "source", "tags", "metadata",
]  # fmt: skip
"""Fields of an item that a reviewer changes."""
EDITABLE: tuple[str, ...] = get_args(Editable)


class Review(Entry):
    """What a person decided on an item."""

    piece = "review"
    log = "reviews.jsonl"

    key: str = Field(alias="item")
    who: str = Field(alias="reviewer")
    decision: Decision = Field(description="edit: accepted with changes; undo: the last one back")
    changes: dict[str, tuple[Any, Any]] = Field(
        default_factory=dict, description="For each field that changes its value before and after"
    )
    applied: bool = Field(True, description="The item was changed; else others are waited for")

    @classmethod
    def of_record(cls, record: Mapping[str, Any], number: int) -> Self:
        """Reads a line; see `Entry.of_record`."""
        try:
            return cls.model_validate({**record, "undo": record.get("decision") == "undo"})
        except ValidationError as error:
            raise wrong_record(error) from error

    @classmethod
    def differ(cls, several: Sequence[Review]) -> bool:
        """Whether statuses or changes differ; see `Entry.differ`."""
        return len({review._outcome() for review in several}) > 1

    def to_record(self) -> dict[str, Any]:
        """The line of the log, without what has its default."""
        return self.model_dump(mode="json", by_alias=True, exclude={"undo"}, exclude_defaults=True)

    @property
    def counts(self) -> bool:
        """Whether it is more than a tag."""
        return self.decision != "tag"

    @property
    def status(self) -> Status:
        """What becomes of the item: ``accepted`` or ``rejected``."""
        return "rejected" if self.decision == "reject" else "accepted"

    def _outcome(self) -> tuple[str, bytes]:
        """What two people have to have in common to agree."""
        wanted = {name: pair[1] for name, pair in self.changes.items() if name in EDITABLE}
        return self.status, orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS)


def edited(
    item: GoldenItem,
    fields: Mapping[Any, Any],
    reviewer: str,
    documents: Callable[[], Mapping[str, Document]],
) -> GoldenItem:
    """The item with new values."""
    unknown = set(fields) - set(EDITABLE)
    if unknown:
        raise UsageError(f"A reviewer does not change {', '.join(sorted(unknown))}.")
    before = item.model_dump(mode="json")
    try:
        record = GoldenItem.model_validate({**before, **fields, "gold": None}).model_dump(
            mode="json"
        )
    except ValidationError as error:
        raise wrong_record(error) from error
    record["tags"] = list(dict.fromkeys(tag for value in record["tags"] if (tag := value.strip())))
    record["metadata"] = {
        name: value for key, value in record["metadata"].items() if (name := key.strip())
    }
    record["references"] = [reference for reference in record["references"] if reference.strip()]
    authors = {
        (negative_reference.text, negative_reference.kind): negative_reference.by
        for negative_reference in item.negative_references
    }
    record["negative_references"] = [
        {
            **negative_reference,
            "by": authors.get(
                (negative_reference["text"], negative_reference.get("kind")), reviewer
            ),
        }
        for negative_reference in record["negative_references"]
        if negative_reference["text"].strip()
    ]
    spans = fields.get("gold", before["gold"])
    if not isinstance(spans, list | None):
        raise InputError("is not a list of spans", field="gold")
    record["gold"] = spans and [_span(item, span, documents) for span in spans]
    return GoldenItem.model_validate(record)


def changes_of(old: GoldenItem, new: GoldenItem) -> dict[str, tuple[Any, Any]]:
    """For each field that differs its value before and after."""
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def _span(
    item: GoldenItem, wanted: Mapping[str, Any], documents: Callable[[], Mapping[str, Document]]
) -> Any:
    try:
        name, start, end = str(wanted["document"]), int(wanted["start"]), int(wanted["end"])
        grade = int(wanted.get("grade", 1))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("a span has a document, a start and an end", field="gold") from error
    for old in item.gold or ():
        if (old.document, old.start, old.end, old.grade) == (name, start, end, grade):
            return old.model_dump()  # as it is, also where its document has changed
    try:
        all_documents = documents()
        found = names_of(all_documents).one(name)
    except InputError as error:  # of the documents, which new spans need, or of a name of several
        raise error.but(field="gold") from error
    if found is None:
        raise InputError(f"there is no document {name!r}", field="gold")
    name, document = found, all_documents[found]
    text = document.text
    if not 0 <= start < end <= len(text):
        raise InputError(
            f"{name} has {len(text)} characters; there is no span {start}-{end}", field="gold"
        )
    return GoldSpan.of(name, text, start, end, grade).model_dump()


WORDS = ("type", "complexity", "style", "language", "source")
"""Fields of a word each: the page proposes those that other items have."""
HIDDEN = {"status": "draft", "tags": []}
"""In place of what is known of an item of the calibration set."""


class ReviewConflictError(UsageError):
    """Somebody changed the item in the meantime."""

    def __init__(self, sentence: str, item: GoldenItem | None = None) -> None:
        super().__init__(sentence)
        self.item = item


def version_of(item: GoldenItem) -> str:
    """The version of an item: a hash of its line."""
    digest = hashlib.blake2b(orjson.dumps(item.to_record()), digest_size=8).hexdigest()
    return f"v{digest}"  # which no spreadsheet takes for a number


class ReviewStore(Reviewing[Review]):
    """The items of a golden set under review."""

    kind = Review

    def things(self, where: Sequence[str] = ()) -> list[Thing]:
        """The items, known ones first; see `Reviewing.things`."""
        known = self.settings().calibration and self.golden(calibration=True)
        calibration = known.with_status("accepted", "rejected") if known else ()
        items = Subset(where).of(self.golden().items, GoldenItem.fields, "item")
        first = [self.thing(item, calibration=True) for item in calibration]
        return first + [self.thing(item) for item in items]

    def thing(self, item: GoldenItem, *, calibration: bool = False) -> Thing:
        """An item as something to decide on, without what is known of a known one."""
        words = {name: getattr(item, name) for name in WORDS}
        about = {"query": item.query, "status": item.status, **words, "tags": item.tags}
        if calibration:
            return Thing(item.id, {**about, **HIDDEN}, calibration=True)
        closed = item.status != "draft"
        return Thing(item.id, about, self.settings().needs(item.id), closed, item.reviewer)

    def review(
        self,
        item_id: str,
        reviewer: str,
        decision: Literal["accept", "reject", "tag"],
        version: str,
        *,
        fields: Mapping[Any, Any] | None = None,
        seconds: float = 0.0,
        calibration: bool = False,
    ) -> Review:
        """Carries a decision out, and gives it as the log has it. An item that several people
        review is changed when all have decided alike, and else waits for somebody who settles it. A
        `ReviewConflictError` where the item has changed by now."""
        with self.deciding(reviewer):
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
            is_edit = decision == "accept" and set(changes) - {"tags"}
            review = Review(
                key=item_id,
                who=reviewer,
                at=now(),
                decision="edit" if is_edit else decision,
                changes=changes,
                seconds=round(max(seconds, 0.0), 1),
            )
            more: dict[str, Any] = {}
            if calibration:
                right = (decision == "reject") == (item.status == "rejected")
                more = {"applied": False, "calibration": True, "right": right}
            elif decision == "tag":
                if set(changes) - {"tags"}:
                    raise UsageError("A change beyond tags must be accepted or rejected.")
            else:
                final = self.thing(item).state(reviewer, self.current()) in ("done", "disagreement")
                more = {"final": final, "applied": final or self._agreed(review)}
                if more["applied"]:
                    wanted.status = review.status
                    wanted.reviewer, wanted.verified_on = reviewer, datetime.now(UTC).date()
                    if is_edit and wanted.origin == "synthetic":
                        wanted.origin = "edited"
                    more["changes"] = changes_of(item, wanted)
            review = review.model_copy(update=more)
            if review.applied and review.changes:
                self._replace(wanted)
            self.write(review.to_record())
        return review

    def _restored(self, review: Review, before: Review | None) -> Mapping[str, Any]:
        item = None if review.calibration else self.golden().item(review.key)
        if item is not None:
            record = item.model_dump(mode="json")
            theirs = [name for name, (_, new) in review.changes.items() if record[name] != new]
            problem = ""
            if review.applied and theirs:
                problem = f"{', '.join(theirs)} changed since your review; nothing was undone"
            elif not review.applied and item.status != "draft":
                problem = f"{item.reviewer} settled it since"
            if problem:
                raise ReviewConflictError(f"{review.key}: {problem}.", item)
            if review.applied and review.changes:
                old = {name: pair[0] for name, pair in review.changes.items()}
                self._replace(GoldenItem.model_validate({**record, **old}))
        elif not review.calibration:
            raise ReviewConflictError(f"{review.key}: the item is no longer in the set.")
        undone = Review(key=review.key, who=review.who, at=now(), decision="undo")
        return undone.to_record()

    def _replace(self, item: GoldenItem) -> None:
        golden = self.golden()
        items = [item if golden_item.id == item.id else golden_item for golden_item in golden.items]
        replace(golden, items=items).save()

    def _agreed(self, review: Review) -> bool:
        """Whether this review and those of others suffice, and say the same."""
        entries = self.current().of.get(review.key, {})
        others = [entry for who, entry in entries.items() if who != review.who]
        enough = len(others) + 1 >= self.settings().needs(review.key)
        return enough and not Review.differ([review, *others])
