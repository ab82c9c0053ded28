"""Checks by rules: gold spans and their texts, queries that hold their answer, references that
contradict each other, queries asked twice, ages, and documents that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar

from ragassay.base.note import Note
from ragassay.base.sample import Answerability
from ragassay.golden import anchor
from ragassay.golden.documents import COPY, Document, text_at
from ragassay.golden.golden_folder import MANIFEST, GoldenSet
from ragassay.golden.golden_item import GoldenItem, differing, excerpt
from ragassay.golden.golden_parts import near_duplicates, plain
from ragassay.golden.text_finding import Forms
from ragassay.judges.offline.words import spaced

K = TypeVar("K", bound=Hashable)
METRICS = ("contains_answer", "token_f1.f", "rougeL(tokens=unicode).f", "BLEU")
"""Metrics that are tried on wrong answers, where none are named."""
_DISTINCTIVE = 20
"""Characters of a text that is not at several places by chance."""
_MOST_PLACES = 50
"""Places of a text in a document that are looked for."""
_SHORTEST = 4
"""Characters of a reference that may leak: a shorter one is in many queries."""
_POLAR = {
    "yes": ("no",), "ja": ("nein",), "oui": ("non",), "sí": ("no",), "是": ("否", "不是"),
    "是的": ("否", "不是", "不是的"), "对": ("不对",), "對": ("不對",),
}  # fmt: skip
"""Words of yes, each with its words of no."""
_ZONES = timedelta(days=1)
"""By how much the day of a person is ahead of that of UTC."""


@dataclass(frozen=True)
class CheckOptions:
    """What is checked. Without a ``judge`` the offline judge is asked; ``max_age`` counts days
    since an item was verified, up to ``today``."""

    judge: str | None = None
    budget: str | None = None
    metrics: Sequence[str] = METRICS
    max_age: int | None = None
    log: Sequence[str] = ()
    today: date | None = None


class Finding(NamedTuple):
    """Something about an item, or about the set: ``error``: it is wrong; ``look``: a person should
    look."""

    note: Note
    item: str = ""
    severity: Literal["error", "look"] = "look"
    check: str = ""

    @property
    def sentence(self) -> str:
        """Its words."""
        return clause(self.note)

    def to_json(self) -> dict[str, str]:
        """A mapping of plain values."""
        _, *others = self._fields
        return {"sentence": self.sentence} | {name: getattr(self, name) for name in others}


Findings = Iterator[Finding]


def _look(kind: str, item: str = "", names: Sequence[str] = (), **counts: Any) -> Finding:
    return Finding(Note(kind, counts, tuple(names)), item)


def _error(kind: str, item: str = "", **counts: Any) -> Finding:
    return Finding(Note(kind, counts), item, "error")


def clause(note: Note) -> str:
    """The sentence of a note as part of one."""
    return str(note).removesuffix(".")


@dataclass
class Look:
    """What checks look at; ``unscored`` counts samples without a score, by check."""

    golden: GoldenSet
    options: CheckOptions
    evaluate: Callable[..., Any]
    unscored: Counter[str] = field(default_factory=Counter)

    @property
    def judge(self) -> str:
        """What the judge is called."""
        return self.options.judge or "the offline judge"

    @cached_property
    def items(self) -> list[GoldenItem]:
        """The items that nobody rejected."""
        return self.golden.with_status("accepted", "draft")

    @cached_property
    def documents(self) -> dict[str, Document]:
        """The documents by id; none where no item has gold and the set lists none."""
        are_needed = self.golden.known_documents() or any(item.gold for item in self.items)
        return self.golden.documents() if are_needed else {}

    def scores(
        self, asked: Mapping[K, Mapping[str, Any]], metric: str, check: str
    ) -> Iterator[tuple[K, float, str]]:
        """Key, value and explanation of each sample that a metric scores; counts the others."""
        if not asked:
            return
        keys = list(asked)
        samples = [{"id": str(n), **record} for n, record in enumerate(asked.values())]
        judge, budget = self.options.judge, self.options.budget
        for row in self.evaluate(samples, metrics=[metric], judge=judge, budget=budget).scores:
            if isinstance(row.value, int | float):
                yield keys[int(row.sample)], float(row.value), row.explanation
            else:
                self.unscored[check] += 1


def changed_documents(look: Look) -> Findings:
    """What changed in the documents since the spans were made."""
    golden, documents = look.golden, look.documents
    recorded = golden.known_documents()
    for name, document in documents.items():
        if recorded and name not in recorded:
            yield _look("document_added", document=name)
        elif recorded.get(name, document.sha256) != document.sha256:
            yield _look("document_edited", document=name)
    for name in recorded.keys() - documents.keys():
        yield _error("document_gone", document=name)
    if unreadable := [text for text, why in golden.left_out.items() if not why.startswith(COPY)]:
        yield _look("unreadable", names=unreadable)
    if documents and not recorded:
        yield _look("documents_not_listed", manifest=MANIFEST)


def misplaced_spans(look: Look) -> Findings:
    """Spans whose text is not at their place, and answerable queries without a reference or
    a span."""
    for item in look.items:
        for number, span in enumerate(item.gold or ()):
            if (text := text_at(look.documents, span)) == span.text:
                continue
            document = look.documents.get(span.document)
            [place] = anchor([item.model_copy(update={"gold": [span]})], look.documents)
            found = "finds it" if place.new is not None else f"says: {place.found}"
            facts = {"number": str(number), "document": span.document, "found": found}
            if document is None:
                yield _error("span_of_no_document", item.id, **facts)
            elif span.end > (n := len(document.text)):
                yield _error("span_outside", item.id, **facts, end=str(span.end), n=f"{n:,}")
            else:
                wanted, actual = differing(span.text, text)
                yield _error("span_of_other_text", item.id, **facts, wanted=wanted, actual=actual)
        if item.answerability in (Answerability.ANSWERABLE, Answerability.PARTIAL, None):
            it = "no answerability is given" if item.answerability is None else "it is answerable"
            if not item.references:
                yield _error("no_reference", item.id, it=it)
            if not item.gold:
                yield _look("no_gold_span", item.id, it=it)


def repeated_texts(look: Look) -> Findings:
    """Texts of gold that also occur where they are no gold of the item."""
    texts = {
        item.id: dict.fromkeys(" ".join(span.text.split()) for span in item.evidence)
        for item in look.items
    }
    forms = Forms(look.documents)
    for item in look.items:
        gold = [(span.document, span.start, span.end) for span in item.evidence]
        for text in texts[item.id]:
            if len(text) < _DISTINCTIVE:
                continue
            found = forms.occurrences(text, look.documents, _MOST_PLACES)
            spans = (forms.place(name, at, at + len(text)) for name, at in found)
            places = [
                f"{name}:{start}"
                for name, start, end in spans
                if not any(name == own and a < end and start < b for own, a, b in gold)
            ]
            if places:
                yield _look("stands_elsewhere", item.id, places, text=excerpt(text))


def leaks(look: Look) -> Findings:
    """Queries that hold their answer."""
    for item in look.items:
        query = plain(spaced(item.query))
        for reference in item.references:
            words = plain(spaced(reference))
            if len(words) >= _SHORTEST and words.strip() and f" {words} " in f" {query} ":
                yield _error("holds_answer", item.id, reference=reference)


def contradictions(look: Look) -> Findings:
    """References that contradict each other or the wrong answers of their item."""
    for item in look.items:
        first = {plain(text).partition(" ")[0] for text in item.references}
        if any(yes in first and not first.isdisjoint(no) for yes, no in _POLAR.items()):
            yield _error("yes_and_no", item.id)
        wrong = {plain(negative_reference.text) for negative_reference in item.negative_references}
        for reference in item.references:
            if plain(reference) in wrong:
                yield _error("right_and_wrong", item.id, text=reference)


def duplicates(look: Look) -> Findings:
    """Queries that ask nearly the same as an earlier one, each with the first such query."""
    first_like: dict[int, int] = {}
    for first, second in near_duplicates(look.items):
        if first_like.setdefault(second, first) == first:
            yield _look("asked_twice", look.items[second].id, first=look.items[first].id)


def ages(look: Look) -> Findings:
    """Items that were verified too long ago, or in the future."""
    most, today = look.options.max_age, look.options.today or datetime.now(UTC).date()
    verified = [(item.verified_on, item.id) for item in look.items if item.verified_on is not None]
    for then, name in sorted(verified):
        days = (today - then).days
        if most is not None and days > most:
            yield _look("verified_long_ago", name, n=days)
        if then > today + _ZONES:
            yield _error("verified_in_future", name, day=str(then))
    unknown = [item.id for item in look.items if item.verified_on is None]
    if most is not None and unknown:
        yield _look("never_verified", names=unknown)
