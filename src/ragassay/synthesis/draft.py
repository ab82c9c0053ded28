"""What a generator writes, before anybody has checked it; and why a draft is rejected."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from ragassay.base.sample import Answerability
from ragassay.golden.golden_item import GoldenItem, GoldSpan, NegativeReference, Utterance
from ragassay.judges import Failure
from ragassay.synthesis.mix import Kind
from ragassay.synthesis.sections import Section

Why = Literal[
    "not-written",
    "form",
    "leak",
    "duplicate",
    "unrealistic",
    "not-grounded",
    "not-answerable",
    "known-without",
    "answered-elsewhere",
    "not-checked",
    "not-chosen",
]
"""Kinds of rejection: ``known-without``: the checker knows the answer without the gold spans;
``answered-elsewhere``: the documents answer what must be unanswerable; ``not-chosen``:
nothing is wrong with it, and other drafts were chosen."""


@dataclass(frozen=True)
class Nearly:
    """What almost answers a query that the documents must not answer.

    Attributes:
        spans: that answer a query near it, or that it was written from.
        query: the one that they answer; empty where there is none.
    """

    spans: tuple[GoldSpan, ...]
    query: str = ""
    answer: str = ""

    def to_record(self) -> dict[str, Any]:
        """As it stands in the provenance."""
        parts = {"document", "start", "end", "text"}
        spans = [one.model_dump(include=parts) for one in self.spans]
        record = {"query": self.query, "answer": self.answer, "spans": spans}
        return {name: value for name, value in record.items() if value}


@dataclass
class Draft:
    """An item of a golden set that was not checked yet.

    Attributes:
        references: right answers; none for an unanswerable query.
        nearly: of a query that nothing answers, the query that it nearly is.
        name: id of a query that was given; empty: it follows from the text.
        evidence: ids of the judges' verdicts that it rests on.
        repeat: how often the same was wanted before.
    """

    query: str
    kind: Kind
    sections: tuple[Section, ...]
    references: tuple[str, ...] = ()
    negatives: tuple[NegativeReference, ...] = ()
    spans: tuple[GoldSpan, ...] = ()
    history: tuple[Utterance, ...] = ()
    source: str = "synthetic"
    name: str = ""
    evidence: tuple[str, ...] = field(default=())
    nearly: Nearly | None = None
    repeat: int = field(default=0, compare=False)

    @property
    def wanted(self) -> dict[str, str]:
        """What was wanted of it, by part of the mix."""
        return dict(self.kind)

    @property
    def answerable(self) -> bool:
        """Whether the documents are to hold an answer, or a part of one."""
        return self.wanted.get("answerability") != "unanswerable"

    @property
    def places(self) -> list[tuple[str, float]]:
        """Document, and place in it (0 to 1), of the middle of each span that answers the query, or
        almost answers it; of its passages where there is none."""
        lengths = {one.document: one.length for one in self.sections}
        spans = self.spans or (self.nearly.spans if self.nearly else ())
        held = [(one.document, one.start + one.end) for one in spans or self.sections]
        return [(name, ends / 2 / lengths[name]) for name, ends in held]

    @property
    def conversation(self) -> str:
        """The query with its earlier turns, as lines ``speaker: text``."""
        turns = [f"{one.speaker}: {one.text}" for one in self.history]
        return "\n".join([*turns, f"user: {self.query}"])

    @property
    def id(self) -> str:
        """Follows from the conversation and the spans, so that the same item has the same id;
        a given query keeps its own."""
        if self.name:
            return self.name
        places = [f"{one.document}:{one.start}-{one.end}" for one in self.spans]
        body = "\n".join([self.conversation, *places])
        return f"syn-{hashlib.sha256(body.encode()).hexdigest()[:12]}"

    def to_item(self, made: dict[str, Any]) -> GoldenItem:
        """The draft as an item with status ``draft``."""
        wanted = self.wanted
        passages = [f"{one.document}:{one.start}-{one.end}" for one in self.sections]
        return GoldenItem(
            id=self.id,
            query=self.query,
            history=list(self.history),
            references=list(self.references),
            negative_references=list(self.negatives),
            gold=list(self.spans),
            answerability=Answerability(wanted.get("answerability", "answerable")),
            **{one: wanted.get(one, "") for one in ("type", "complexity", "style", "language")},
            source=self.source,
            author=str(made["generator"]),
            origin="synthetic",
            provenance={
                **made,
                "passages": passages,
                "wanted": wanted,
                **({"nearly": self.nearly.to_record()} if self.nearly else {}),
                "verdicts": list(self.evidence),
            },
        )


@dataclass
class Rejection:
    """A draft that is no item, and why.

    Attributes:
        passing: whether the reason may be gone when the command runs again.
        failed: whether who was asked gave no usable answer.
        unasked: whether nobody was asked, because nothing more was sent (a spent budget, an
            endpoint that was given up): then it is no rejection, and counted apart.
    """

    why: Why
    detail: str
    draft: Draft
    passing: bool = False
    failed: bool = False
    unasked: bool = False

    @classmethod
    def of(cls, failure: Failure, why: Why, asked: str, draft: Draft) -> Rejection:
        """The rejection of a draft about which there is no answer."""
        if failure.stopped:
            return cls(why, failure.detail, draft, failure.reason.passing, unasked=True)
        detail = f"the {asked} gave no answer: {failure.detail}"
        return cls(why, detail, draft, failure.reason.passing, failed=True)

    def to_record(self, made: dict[str, Any]) -> dict[str, Any]:
        """A line of ``rejected.jsonl``."""
        query = self.draft.query
        item = self.draft.to_item(made).to_record() if query else {"query": "", "provenance": made}
        return {"why": self.why, "detail": self.detail, **item}
