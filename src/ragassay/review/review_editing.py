"""A review of an item: what a reviewer changes, and which reviews are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragassay.base.errors import InputError, UsageError
from ragassay.golden.documents import Document, names_of
from ragassay.golden.golden_item import GoldenItem, GoldSpan, Status, wrong_record
from ragassay.review.review_log import Entry, Kind

Decision = Literal["accept", "edit", "reject", "tag", "undo"]

EDITABLE = (
    *("query", "references", "negative_references", "gold", "answerability", "type"),
    *("complexity", "style", "language", "source", "tags", "metadata"),
)
"""Fields of an item that a reviewer changes."""


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

    @property
    def status(self) -> Status:
        """What becomes of the item: ``accepted`` or ``rejected``."""
        return "rejected" if self.decision == "reject" else "accepted"

    def outcome(self) -> tuple[str, bytes]:
        """What two people have to have in common to agree."""
        wanted = {name: pair[1] for name, pair in self.changes.items() if name in EDITABLE}
        return self.status, orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS)


def _entry(record: Mapping[str, Any], number: int) -> Entry:
    try:
        one = Review.model_validate(record)
    except ValidationError as error:
        raise wrong_record(error) from error
    return Entry(
        one.item,
        one.reviewer,
        one,
        one.at,
        one.seconds,
        undo=one.decision == "undo",
        counts=one.decision != "tag",
        final=one.final,
        calibration=one.calibration,
        right=bool(one.right),
    )


REVIEWS = Kind(
    piece="review",
    log="reviews.jsonl",
    known_log="",
    entry=_entry,
    differ=lambda reviews: len({one.outcome() for one in reviews}) > 1,
)


def edited(
    item: GoldenItem,
    fields: Mapping[str, Any],
    reviewer: str,
    documents: Callable[[], Mapping[str, Document]],
) -> GoldenItem:
    """The item with new values."""
    unknown = set(fields) - set(EDITABLE)
    if unknown:
        raise UsageError(f"A reviewer does not change {', '.join(sorted(unknown))}.")
    record = {**item.model_dump(mode="json"), **fields}
    record["tags"] = list(dict.fromkeys(tag for one in record["tags"] if (tag := one.strip())))
    record["metadata"] = {
        name: value for key, value in record["metadata"].items() if (name := key.strip())
    }
    record["references"] = [one for one in record["references"] if one.strip()]
    authors = {(one.text, one.kind): one.by for one in item.negative_references}
    record["negative_references"] = [
        {**one, "by": authors.get((one["text"], one.get("kind")), reviewer)}
        for one in record["negative_references"]
        if one["text"].strip()
    ]
    if record["gold"] is not None:
        record["gold"] = [_span(item, one, documents) for one in record["gold"]]
    try:
        return GoldenItem.model_validate(record)
    except ValidationError as error:
        raise wrong_record(error) from error


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
