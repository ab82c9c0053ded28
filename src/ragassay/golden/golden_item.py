"""One query of a golden set: what is asked, what is right, what is wrong, and where that is said.
And what changed from one set to another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ragassay.base.errors import InputError, mistake
from ragassay.base.sample import Answerability, GoldPassage, Sample, Turn

CONTEXT = 60
"""Characters before and after a span that are kept with it."""

Kind = Literal["inaccurate", "incomplete", "off-style"]
Status = Literal["draft", "accepted", "rejected"]
Origin = Literal["human", "synthetic", "edited"]

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:")


def _day(value: Any) -> Any:
    """The day of a time that is written out, as sheets do."""
    return value[:10] if isinstance(value, str) and _TIME.match(value) else value


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GoldSpan(_Part):
    """Characters ``[start, end)`` of a document that answer the query, with their surroundings."""

    document: str = Field(description="Id of the document")
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    text: str = Field(min_length=1, description="The characters themselves")
    before: str = Field("", description="The text before them")
    after: str = Field("", description="The text after them")
    grade: int = Field(1, description="0: judged and not relevant; 1 and above: relevant")

    @model_validator(mode="after")
    def _is_a_span(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"the span ends at {self.end}, and starts at {self.start}")
        return self

    @classmethod
    def of(cls, document: str, text: str, start: int, end: int, grade: int = 1) -> GoldSpan:
        """The span at a place of a document."""
        return cls(
            document=document,
            start=start,
            end=end,
            text=text[start:end],
            before=text[max(0, start - CONTEXT) : start],
            after=text[end : end + CONTEXT],
            grade=grade,
        )


class NegativeReference(_Part):
    """An answer that is known to be wrong."""

    text: str
    kind: Kind | None = Field(None, description="What is wrong with it")
    by: str = Field("", description="Who said so")


def said_by(turn: Turn) -> Turn:
    """A turn as items have it: what no agent says, a user does."""
    return turn if turn.speaker == "agent" else Turn("user", turn.text)


class GoldenItem(BaseModel):
    """One query of a golden set. The order of the fields is that of its line."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    history: list[Turn] = Field(default_factory=list, description="Earlier turns")
    references: list[str] = Field(default_factory=list, description="Answers, any of them right")
    negative_references: list[NegativeReference] = Field(default_factory=list)
    gold: list[GoldSpan] | None = Field(None, description="Left out: never judged; []: none")
    answerability: Answerability | None = None
    type: str = Field("", description="factual, comparison, summary, reasoning, procedural, yes-no")
    complexity: str = ""
    style: str = ""
    language: str = Field("", description="Such as en or pt-BR")
    source: str = Field("", description="Where the query comes from: log, expert, synthetic")
    tags: list[str] = Field(default_factory=list)
    author: str = ""
    reviewer: str = ""
    origin: Origin = "human"
    verified_on: Annotated[date | None, BeforeValidator(_day)] = None
    status: Status = "draft"
    provenance: dict[str, Any] = Field(default_factory=dict, description="How it was made")
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _speakers_are_known(self) -> Self:
        if not {turn.speaker for turn in self.history} <= {"user", "agent"}:
            raise ValueError("a turn of the history is said by 'user' or 'agent'")
        return self

    @property
    def evidence(self) -> list[GoldSpan]:
        """The gold spans that are relevant: a person may have graded others as not relevant."""
        return [span for span in self.gold or () if span.grade > 0]

    @property
    def evidence_text(self) -> str:
        """Their texts as one."""
        return " ".join(span.text for span in self.evidence)

    def to_record(self) -> dict[str, Any]:
        """The item's line as plain values; what has its default is left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def fields(self) -> dict[str, Any]:
        """The values by which subsets are chosen: its metadata, and its own fields."""
        return {**self.metadata, **{name: getattr(self, name) for name in type(self).model_fields}}

    def to_sample(self) -> Sample:
        """The item as a sample without an answer."""
        slices = {
            name: getattr(self, name)
            for name in ("type", "complexity", "style", "source", "origin", "tags")
            if getattr(self, name)
        }
        gold = None
        if self.gold is not None:
            gold = tuple(
                GoldPassage(None, span.text, span.document, span.start, span.end, span.grade)
                for span in self.gold
            )
        return Sample(
            id=self.id,
            query=self.query,
            history=tuple(self.history),
            references=tuple(self.references),
            negative_references=tuple(
                negative_reference.text for negative_reference in self.negative_references
            ),
            gold=gold,
            answerability=self.answerability,
            language=self.language or None,
            metadata={**self.metadata, **slices},
        )

    @classmethod
    def of_sample(cls, sample: Sample, own: Mapping[str, Any] | None = None) -> GoldenItem:
        """An item of what a sample knows about its query; gold without a document is left out.
        ``own``: fields that a sample does not have; of negative references a mapping of ``kind``
        and ``by`` each."""
        more = dict(own or {})
        metadata = dict(sample.metadata)
        words = ("type", "complexity", "style", "source")
        slices: dict[str, Any] = {key: str(metadata.pop(key)) for key in words if key in metadata}
        if metadata.get("origin") in get_args(Origin):  # as `to_sample` writes it
            slices["origin"] = metadata.pop("origin")
        if isinstance(metadata.get("tags"), list | tuple):
            slices["tags"] = list(map(str, metadata.pop("tags")))
        parts = ("document", "start", "end", "text", "grade")
        gold = sample.gold and [
            {name: getattr(passage, name) for name in parts}
            for passage in sample.gold
            if passage.document
            and passage.text
            and passage.start is not None
            and passage.end is not None
        ]
        about = more.pop("negative_references", [{}] * len(sample.negative_references))
        record = {
            "id": sample.id,
            "query": sample.query_text,
            "history": list(map(said_by, sample.history)),
            "references": list(sample.references),
            "negative_references": [
                {"text": text, **kind_and_by}
                for text, kind_and_by in zip(sample.negative_references, about, strict=True)
            ],
            "gold": None if gold is None else list(gold),
            "answerability": sample.answerability,
            "language": sample.language or "",
            "metadata": metadata,
        }
        return cls.model_validate(record | slices | more)


def tags_in(text: str) -> list[str]:
    """The tags of a cell: a line each, in a line parted by semicolons where it holds one, else by
    commas."""
    parts = (line.split(";" if ";" in line else ",") for line in text.split("\n"))
    return [tag for group in parts for part in group if (tag := part.strip())]


def negatives_in(text: str) -> list[dict[str, str | None]]:
    """The ``text`` and ``kind`` of each wrong answer of a cell: a line each, such as
    ``inaccurate: at ten``; ``None`` where no kind is given."""
    negatives: list[dict[str, str | None]] = []
    for line in filter(str.strip, text.split("\n")):
        kind, colon, answer = line.partition(": ")
        has_kind = colon and kind in get_args(Kind)
        negatives.append({"text": answer if has_kind else line, "kind": kind if has_kind else None})
    return negatives


def nearly(item: GoldenItem) -> list[GoldSpan]:
    """The spans that almost answer a query that nothing answers, where its provenance says so."""
    record = item.provenance.get("nearly")
    spans = record.get("spans") if isinstance(record, dict) else None
    try:
        return [GoldSpan.model_validate(span) for span in spans or ()]
    except (TypeError, ValidationError):  # somebody else's provenance
        return []


UNPLACED = "unplaced"
"""Key of an item's provenance: gold that has no place in the documents, as the file gave it, each
with the ``reason``."""


def unplaced(item: GoldenItem) -> list[dict[str, Any]]:
    """The gold of an item that has no place in the documents, where its provenance holds some."""
    records = item.provenance.get(UNPLACED)
    return (
        [record for record in records if isinstance(record, dict)]
        if isinstance(records, list)
        else []
    )


def wrong_record(
    error: ValidationError, path: Path | None = None, line: int | None = None
) -> InputError:
    """The error of a record that is no item (review, settings), in words of users."""
    field, problem = mistake(error)
    return InputError(problem, path=path, line=line, field=field)


@dataclass(frozen=True)
class Change:
    """A query that differs; ``moved``: the same texts at other places. ``texts``: of gold that
    differs, before and now; of moved spans their documents."""

    id: str
    kind: Literal["added", "removed", "changed", "moved"]
    fields: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def difference(old: Sequence[GoldenItem], new: Sequence[GoldenItem]) -> Iterator[Change]:
    """The queries that differ, those of the new set first."""
    remaining = {item.id: item for item in old}
    for item in new:
        golden_item = remaining.pop(item.id, None)
        if golden_item is None:
            yield Change(item.id, "added")
            continue
        fields = tuple(
            name
            for name in GoldenItem.model_fields
            if getattr(golden_item, name) != getattr(item, name)
        )
        if fields == ("gold",) and _texts(golden_item) == _texts(item):
            spans = zip(golden_item.gold or (), item.gold or (), strict=True)
            places = dict.fromkeys((a.document, b.document) for a, b in spans)
            documents = tuple(place for place in places if place[0] != place[1])
            yield Change(item.id, "moved", fields, documents)
        elif fields:
            yield Change(item.id, "changed", fields, _edited(golden_item, item))
    yield from (Change(name, "removed") for name in remaining)


def _texts(item: GoldenItem) -> list[tuple[str, int]]:
    return [(span.text, span.grade) for span in item.gold or ()]


def _edited(old: GoldenItem, new: GoldenItem) -> tuple[tuple[str, str], ...]:
    before, now = _texts(old), _texts(new)
    if len(before) != len(now):
        return ()
    return tuple((a, b) for (a, _), (b, _) in zip(before, now, strict=True) if a != b)


_MOST = 60
"""Characters of a text that is shown in full."""
_BESIDE = 15
"""Characters of equal text that are shown beside what differs."""


def excerpt(text: str, start: int = 0, end: int | None = None) -> str:
    """A text in quotes: where it is long, the part around some characters, at most about 60."""
    if len(text) <= _MOST:
        return repr(text)
    first = max(0, min(start - _BESIDE, len(text) - _MOST))
    wanted = len(text) if end is None else end + _BESIDE
    last = min(len(text), wanted, first + _MOST)
    return repr(f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}")


def differing(old: str, new: str) -> tuple[str, str]:
    """Two texts in quotes, each around what differs."""
    from rapidfuzz.distance import Postfix, Prefix

    head = Prefix.similarity(old, new)
    tail = Postfix.similarity(old[head:], new[head:])
    return excerpt(old, head, len(old) - tail), excerpt(new, head, len(new) - tail)
