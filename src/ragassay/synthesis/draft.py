"""What is to be synthesized, in which mix of kinds; what a generator writes before anybody checks
it, why a draft is rejected, which drafts are chosen, and what came of it all."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rapidfuzz import fuzz

from ragassay.base import packages
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.printable import grouped
from ragassay.base.sample import Answerability, Sample, Turn
from ragassay.golden.golden_item import GoldenItem, GoldSpan, NegativeReference
from ragassay.golden.golden_parts import shared_out
from ragassay.judges import Failure
from ragassay.synthesis.sections import Section

FREE = ("style", "language")
"""What a mix may say in words of one's own."""

WORDS = (3, 60)
"""Fewest and most words of a query."""

LENGTHS: Mapping[str, tuple[int, int]] = {"short": (1, 8), "medium": (9, 16), "long": (17, 35)}
"""Fewest and most words of a query of each wanted length."""

JOINT = "question_type"
"""A part that sets two others: Open RAG Eval's four types of query."""

EXPANDED: Mapping[str, Mapping[str, str]] = {
    "directly_answerable": {"type": "factual", "answerability": "answerable"},
    "reasoning_required": {"type": "reasoning", "answerability": "answerable"},
    "unanswerable": {"type": "factual", "answerability": "unanswerable"},
    "partially_answerable": {"type": "factual", "answerability": "partial"},
}
"""What they set."""

ASKED: Mapping[str, Mapping[str, str]] = packages.table("ragassay.synthesis", "data/mix.yaml")
"""What a prompt says of each value of a part."""

KNOWN = {part: tuple(values) for part, values in ASKED.items()} | {JOINT: tuple(EXPANDED)}
"""The values of the parts of a mix that are not free."""

DEFAULT: Mapping[str, Mapping[str, float]] = {
    "type": {"factual": 3, "yes-no": 1},
    "answerability": {"answerable": 4, "unanswerable": 1},
    "shape": {"single": 1},
}

Kind = tuple[tuple[str, str], ...]
"""What is wanted of one item: part and value, by the names of the parts."""


@dataclass(frozen=True)
class Mix:
    """Weights by part and value; they sum to 1 in each part."""

    weights: Mapping[str, Mapping[str, float]]

    @classmethod
    def parse(cls, words: Iterable[str]) -> Mix:
        """A mix in words: ``type=factual:2,yes-no:1``; a part that is not named has its default."""
        defaults = {part: dict(values) for part, values in DEFAULT.items()}
        chosen: dict[str, dict[str, float]] = {}
        for word in words:
            part, equals, values = word.partition("=")
            if not equals or part not in (*KNOWN, *FREE):
                hint = did_you_mean(part, [*KNOWN, *FREE])
                raise UsageError(
                    f"--mix {word!r}: write PART=VALUE:WEIGHT,..., as in type=factual:2,yes-no:1. "
                    f"{hint} Parts: {', '.join([*KNOWN, *FREE])}."
                )
            chosen[part] = dict(_weight(word, part, text) for text in values.split(","))
        if JOINT in chosen:
            both = {"type", "answerability"} & chosen.keys()
            if both:
                raise UsageError(f"--mix {JOINT} sets {both.pop()} too. Leave out either.")
            del defaults["type"], defaults["answerability"]
        return cls.of({**defaults, **chosen})

    @classmethod
    def of(cls, weights: Mapping[str, Mapping[str, float]]) -> Mix:
        """The mix with these weights, whose sums may be any."""
        shares: dict[str, dict[str, float]] = {}
        for part, values in sorted(weights.items()):
            total = sum(values.values())
            if not total > 0:
                raise UsageError(f"--mix {part}: no weight is above 0.")
            shares[part] = {value: n / total for value, n in values.items() if n > 0}
        return cls(shares)

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The values that each part may take; the joint part as those that it sets."""
        parts = {part: tuple(values) for part, values in self.weights.items() if part != JOINT}
        for value in self.weights.get(JOINT, {}):
            for part, set_to in EXPANDED[value].items():
                parts[part] = tuple(dict.fromkeys((*parts.get(part, ()), set_to)))
        return parts

    def kinds(self, n: int, seed: int) -> list[Kind]:
        """What is wanted of each of ``n`` items: in each part the values in their shares, parts
        independent of each other, in random order."""
        columns = []
        for part, weights in self.weights.items():
            quota = shared_out({value: n * weight for value, weight in weights.items()}, n)
            values = [value for value, n_of in quota.items() for _ in range(n_of)]
            random.Random(f"{seed} {part}").shuffle(values)
            columns.append(
                [EXPANDED[value] if part == JOINT else {part: value} for value in values]
            )
        rows = zip(*columns, strict=True)
        return [
            tuple(sorted((part, value) for item in row for part, value in item.items()))
            for row in rows
        ]


def _weight(word: str, part: str, text: str) -> tuple[str, float]:
    value, _, number = text.strip().partition(":")
    if part in KNOWN and value not in KNOWN[part]:
        raise UsageError(
            f"--mix {word!r}: no {part} is called {value!r}. There are: {', '.join(KNOWN[part])}."
        )
    try:
        weight = float(number or 1)
    except ValueError:
        weight = -1.0
    if not value or not 0 <= weight < float("inf"):
        raise UsageError(
            f"--mix {word!r}: {text!r} is no VALUE:WEIGHT with a weight of at least 0."
        )
    return value, weight


Why = Literal[
    "not-written",
    "form",
    "leak",
    "duplicate",
    "not-grounded",
    "not-answerable",
    "known-without",
    "answered-elsewhere",
    "not-checked",
]
"""Kinds of rejection: ``known-without``: the checker knows the answer without the gold spans;
``answered-elsewhere``: the documents answer what must be unanswerable."""


@dataclass(frozen=True)
class Nearly:
    """The spans that almost answer a query that the documents must not answer; the query that they
    do answer, where there is one, and its answer."""

    spans: tuple[GoldSpan, ...]
    query: str = ""
    answer: str = ""

    def to_record(self) -> dict[str, Any]:
        """As written in the provenance."""
        parts = {"document", "start", "end", "text"}
        spans = [span.model_dump(include=parts) for span in self.spans]
        record = {"query": self.query, "answer": self.answer, "spans": spans}
        return {name: value for name, value in record.items() if value}


@dataclass
class Draft:
    """An item of a golden set that was not checked yet. An unanswerable query has no references,
    a query that was given a ``name``; ``repeat``: how often the same was wanted before."""

    query: str
    kind: Kind
    sections: tuple[Section, ...]
    references: tuple[str, ...] = ()
    negatives: tuple[NegativeReference, ...] = ()
    spans: tuple[GoldSpan, ...] = ()
    history: tuple[Turn, ...] = ()
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
    def conversation(self) -> str:
        """The query with its earlier turns, as lines ``speaker: text``."""
        turns = [f"{turn.speaker}: {turn.text}" for turn in self.history]
        return "\n".join([*turns, f"user: {self.query}"])

    @property
    def id(self) -> str:
        """Follows from the conversation and the spans, so that the same item has the same id;
        a given query keeps its own."""
        if self.name:
            return self.name
        places = [f"{span.document}:{span.start}-{span.end}" for span in self.spans]
        body = "\n".join([self.conversation, *places])
        return f"syn-{hashlib.sha256(body.encode()).hexdigest()[:12]}"

    def to_item(self, made: dict[str, Any]) -> GoldenItem:
        """The draft as an item with status ``draft``."""
        wanted = self.wanted
        passages = [
            f"{section.document}:{section.start}-{section.end}" for section in self.sections
        ]
        return GoldenItem(
            id=self.id,
            query=self.query,
            history=list(self.history),
            references=list(self.references),
            negative_references=list(self.negatives),
            gold=list(self.spans),
            answerability=Answerability(wanted.get("answerability", "answerable")),
            **{text: wanted.get(text, "") for text in ("type", "complexity", "style", "language")},
            source=self.source,
            author=str(made["generator"]),
            origin="synthetic",
            provenance={
                **made,
                "passages": passages,
                "wanted": wanted,
                **({"nearly": self.nearly.to_record()} if self.nearly else {}),
                "judge_answers": list(self.evidence),
            },
        )


@dataclass
class Rejection:
    """A draft that is no item, why, and the failure of who was asked, if that was the reason."""

    why: Why
    detail: str
    draft: Draft
    failure: Failure | None = None

    @property
    def passing(self) -> bool:
        """Whether the reason may be gone when the command runs again."""
        return self.failure is not None and self.failure.reason.passing

    @property
    def unasked(self) -> bool:
        """Whether nobody was asked, because nothing more was sent (a spent budget, an endpoint that
        was given up): then it is no rejection, and counted apart."""
        return self.failure is not None and self.failure.stopped

    @classmethod
    def of(cls, failure: Failure, why: Why, asked: str, draft: Draft) -> Rejection:
        """The rejection of a draft about which there is no answer."""
        detail = failure.detail
        if not failure.stopped:
            detail = f"the {asked} gave no answer: {detail}"
        return cls(why, detail, draft, failure)

    def to_record(self, made: dict[str, Any]) -> dict[str, Any]:
        """A line of ``rejected.jsonl``."""
        query = self.draft.query
        item = self.draft.to_item(made).to_record() if query else {"query": "", "provenance": made}
        return {"why": self.why, "detail": self.detail, **item}


def chosen(drafts: Sequence[Draft], kinds: Sequence[Kind]) -> list[Draft]:
    """As many drafts as there are kinds, or all: each time one of the kind that lacks most, and of
    these the one that is least like those chosen before, from the least used document and
    section."""
    by_kind: defaultdict[Kind, list[int]] = defaultdict(list)
    for at, draft in enumerate(drafts):
        by_kind[draft.kind].append(at)
    places = [(item.sections[0].document, item.sections[0].start) for item in drafts]
    lacking = Counter(kinds)
    nearest = [0.0] * len(drafts)
    documents: Counter[str] = Counter()
    sections: Counter[tuple[str, int]] = Counter()
    result: list[Draft] = []

    def cost(at: int) -> float:
        from_document = documents[places[at][0]] / (len(result) + 1)
        from_section = sections[places[at]] / (len(result) + 1)
        return nearest[at] / 100 + from_document + from_section

    while by_kind and len(result) < len(kinds):
        kind = max(sorted(by_kind), key=lambda value: lacking[value])
        best = min(by_kind[kind], key=cost)
        by_kind[kind].remove(best)
        if not by_kind[kind]:
            del by_kind[kind]
        lacking[kind] -= 1
        draft = drafts[best]
        result.append(draft)
        documents[places[best][0]] += 1
        sections[places[best]] += 1
        for others in by_kind.values():
            for at in others:
                alike = fuzz.token_set_ratio(drafts[at].query, draft.query)
                nearest[at] = max(nearest[at], alike)
    return result


OFFLINE = "offline"
"""The word for the generator by rules and for the embedded judge."""


@dataclass(frozen=True)
class Wish:
    """What is to be synthesized: ``output`` is to hold ``n`` items in the end, by ``generator`` and
    ``checker`` (``offline``, or words of judges); for ``given`` queries only answers."""

    documents: Path
    output: Path
    n: int = 200
    generator: str = OFFLINE
    checker: str = OFFLINE
    mix: Mix = field(default_factory=lambda: Mix.parse(()))
    seed: int = 0
    guide: str = ""
    like: Path | None = None
    given: Sequence[Sample] = ()
    answers: bool = True
    words: tuple[int, int] = WORDS
    same_model: bool = False
    skip_unreadable: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a synthesis gave: new items and how many are there in all, drafts that were written
    (or asked for in vain), rejected, never asked about (``unasked``), and not chosen."""

    items: Sequence[GoldenItem]
    total: int
    n_drafts: int = 0
    rejections: Sequence[Rejection] = ()
    unasked: Sequence[Rejection] = ()
    n_not_chosen: int = 0
    calls: int = 0
    cached: int = 0
    cost: float = 0.0

    @property
    def stopped(self) -> bool:
        """Whether a passing reason kept drafts from being written or checked."""
        return any(rejection.passing for rejection in (*self.rejections, *self.unasked))

    def reasons(self) -> list[list[Rejection]]:
        """The rejections by kind, the most frequent kind first."""
        groups = grouped((rejection.why, rejection) for rejection in self.rejections)
        return sorted(groups.values(), key=len, reverse=True)
