"""What is wrong with a golden set, or worth a look, before a system is judged by it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Literal

import numpy as np
from rapidfuzz import fuzz, process

from ragassay.engine.run import evaluate
from ragassay.golden import Document, GoldenItem, GoldenSet, GoldSpan
from ragassay.samples import Answerability, Sample

METRICS = ("contains_answer", "token_f1.f", "rougeL(tokens=unicode).f", "BLEU")
"""Metrics whose sight of wrong answers is tried, where none are named."""

_DUPLICATE = 92.0
"""How alike two queries are that ask the same, 0 to 100."""
_COVERED = 60.0
"""How alike a query of a log and one of the set are, so that the set covers it, 0 to 100."""
_ANSWERS = 3.0
"""UMBRELA's grade of a passage that holds the answer."""
_PARAGRAPHS = 3
"""Paragraphs that are looked at for an answer to an unanswerable query."""
_SHORTEST = 4
"""Characters of a reference that may leak: a shorter one stands in many queries."""
_ROWS = 500
"""Queries that are compared with all others at a time."""
_POLAR = {"yes": "no", "no": "yes"}

Severity = Literal["error", "look"]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Finding:
    """Something about an item.

    Attributes:
        check: which check found it.
        item: the query's id; empty where it is about the set.
        sentence: what it is.
        severity: ``error``: it is wrong; ``look``: a person should look.
    """

    check: str
    item: str
    sentence: str
    severity: Severity


@dataclass(frozen=True)
class CheckOptions:
    """What is checked.

    Attributes:
        judge: who says whether gold spans support references; the offline judge when left out.
        budget: what the judge may cost, in each of its checks (support, complete, answered).
        metrics: whose sight of wrong answers is tried.
        max_age: days since an item was verified, after which it is stale.
        log: queries of users, to see what the set does not cover.
        today: the day that ages count from; today when left out.
    """

    judge: str | None = None
    budget: str | None = None
    metrics: Sequence[str] = METRICS
    max_age: int | None = None
    log: Sequence[str] = ()
    today: date | None = None


@dataclass
class Checked:
    """What the checks found.

    Attributes:
        n_items: how many items were checked.
        findings: item by item within each check.
        blindness: for each metric and kind of wrong answer: how many score as high as a right one,
            of how many.
        coverage: for each property (``document``, ``type`` ...) the items of each value.
        uncovered: queries of the log that the set has nothing like; ``None`` without a log.
        skipped: checks that could not be made, in whole or in part, and why.
    """

    n_items: int
    findings: list[Finding] = field(default_factory=list)
    blindness: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    coverage: dict[str, dict[str, int]] = field(default_factory=dict)
    uncovered: list[str] | None = None
    skipped: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return {
            "n_items": self.n_items,
            "findings": [vars(one) for one in self.findings],
            "blindness": [
                {"metric": metric, "kind": kind, "blind": blind, "of": of}
                for (metric, kind), (blind, of) in self.blindness.items()
            ],
            "coverage": self.coverage,
            "uncovered": self.uncovered,
            "skipped": self.skipped,
        }


def check(
    golden: GoldenSet, options: CheckOptions | None = None, progress: Progress | None = None
) -> Checked:
    """Checks a golden set. Rejected items are left out.

    Args:
        golden: the set.
        options: what is checked, and by whom.
        progress: is told which check begins.

    Raises:
        InputError: a document cannot be read.
        UsageError: an unknown metric or judge.
    """
    chosen = options or CheckOptions()
    items = golden.with_status("accepted", "draft")
    are_needed = golden.known_documents() or any(item.gold for item in items)
    documents = golden.documents() if are_needed else {}
    found = Checked(len(items), coverage=_coverage(items, documents))
    say = progress or _nobody
    open_ones: Counter[str] = Counter()
    checks: dict[str, Callable[[], Iterator[Told]]] = {
        "spans": lambda: _spans(items, documents),
        "documents": lambda: _changed_documents(golden, documents),
        "leak": lambda: _leaks(items),
        "contradiction": lambda: _contradictions(items),
        "duplicate": lambda: _duplicates(items),
        "age": lambda: _ages(items, chosen),
        "support": lambda: _support(items, chosen, open_ones),
        "complete": lambda: _complete(items, chosen, open_ones),
        "answered": lambda: _answered(items, documents, chosen, open_ones),
    }
    for name, findings in checks.items():
        say(name)
        found.findings += [Finding(name, *one) for one in findings()]
    say("blindness")
    found.blindness = _blindness(items, chosen)
    if chosen.log:
        say("log")
        found.uncovered = _uncovered(items, chosen.log)
    who = chosen.judge or "the offline judge"
    found.skipped = {name: f"{who} could not say it of {n}" for name, n in open_ones.items()}
    if chosen.judge is None:
        found.skipped["complete"] = "what references leave out is told by an LLM only (--judge)"
    return found


Told = tuple[str, str, Severity]
"""The id of a query, a sentence about it, and how grave it is."""


def _spans(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> Iterator[Told]:
    for item in items:
        for number, span in enumerate(item.gold or ()):
            one = documents.get(span.document)
            if one is None:
                yield item.id, f"gold {number}: there is no document {span.document!r}", "error"
            elif span.end > len(one.text):
                sentence = (
                    f"gold {number}: it ends at {span.end}, and {span.document} has "
                    f"{len(one.text):,} characters"
                )
                yield item.id, sentence, "error"
            elif one.text[span.start : span.end] != span.text:
                stands = one.text[span.start : span.end]
                sentence = f"gold {number}: {stands!r} stands there, not {span.text!r}"
                yield item.id, f"{sentence} ('ragassay golden anchor' finds it)", "error"
        if item.answerability in (Answerability.ANSWERABLE, Answerability.PARTIAL):
            if not item.references:
                yield item.id, "it is answerable and has no reference", "error"
            if item.gold == []:
                yield item.id, "it is answerable and has no gold span", "look"


def _changed_documents(golden: GoldenSet, documents: Mapping[str, Document]) -> Iterator[Told]:
    known = golden.known_documents()
    for name, one in documents.items():
        if name in known and known[name] != one.sha256:
            sentence = f"the document {name} was edited after its spans were made"
            yield "", f"{sentence}: run 'ragassay golden anchor'", "look"
    for name in known.keys() - documents.keys():
        yield "", f"the document {name} is gone", "error"


def _leaks(items: Sequence[GoldenItem]) -> Iterator[Told]:
    for item in items:
        query = _words(item.query)
        for reference in item.references:
            words = _words(reference)
            if len(words) >= _SHORTEST and words.strip() and f" {words} " in f" {query} ":
                yield item.id, f"the query holds its answer {reference!r}", "error"


def _contradictions(items: Sequence[GoldenItem]) -> Iterator[Told]:
    for item in items:
        first = {_words(one).partition(" ")[0] for one in item.references}
        if any(word in first and _POLAR[word] in first for word in _POLAR):
            yield item.id, "one reference says yes and another no", "error"
        wrong = {_words(one.text) for one in item.negative_references}
        for one in item.references:
            if _words(one) in wrong:
                yield item.id, f"{one!r} is both a reference and a wrong answer", "error"


def _duplicates(items: Sequence[GoldenItem]) -> Iterator[Told]:
    # A follow-up means another thing after other turns.
    texts = [
        _words(" ".join([*(turn.text for turn in item.history), item.query])) for item in items
    ]
    told: set[int] = set()
    for begin in range(0, len(texts), _ROWS):
        rows = texts[begin : begin + _ROWS]
        likeness = process.cdist(
            rows, texts, scorer=fuzz.ratio, score_cutoff=_DUPLICATE, dtype=np.uint8, workers=-1
        )
        for row, column in zip(*np.nonzero(likeness), strict=True):
            first, second = begin + int(row), int(column)
            # Of many alike each is told of the one before it.
            if second > first and second not in told:
                told.add(second)
                yield items[second].id, f"asks nearly the same as {items[first].id}", "look"


def _ages(items: Sequence[GoldenItem], options: CheckOptions) -> Iterator[Told]:
    if options.max_age is None:
        return
    today = options.today or datetime.now(UTC).date()
    for item in items:
        if item.verified_on is None:
            yield item.id, "nobody noted when it was verified", "look"
        elif (days := (today - item.verified_on).days) > options.max_age:
            yield item.id, f"it was verified {days:,} days ago", "look"


def _support(
    items: Sequence[GoldenItem], options: CheckOptions, open_ones: Counter[str]
) -> Iterator[Told]:
    """Claims of references that the gold spans alone do not support."""
    samples = [
        {
            "id": f"{number}/{at}",
            "query": item.query,
            "answer": reference,
            "passages": [{"text": span.text} for span in _evidence(item)],
        }
        for number, item in enumerate(items)
        if _evidence(item)
        for at, reference in enumerate(item.references)
    ]
    worst: dict[int, tuple[float, str]] = {}
    best: dict[int, float] = {}
    for name, value, explanation in _scores(samples, "rl_f", options, open_ones, "support"):
        number, _, at = name.partition("/")
        best[int(number)] = max(value, best.get(int(number), 0.0))
        if value < worst.get(int(number), (1.0, ""))[0]:
            reference = items[int(number)].references[int(at)]
            told = explanation.replace("the passages", "its gold spans")
            worst[int(number)] = (value, f"{reference!r}: {told}")
    who = options.judge or "the offline judge"
    for place, (_, sentence) in sorted(worst.items()):
        # The spellings of one answer are supported together: one that is supported vouches.
        if best[place] < 1:
            yield items[place].id, f"{sentence}, says {who}", "look"


def _complete(
    items: Sequence[GoldenItem], options: CheckOptions, open_ones: Counter[str]
) -> Iterator[Told]:
    """Facts of the gold spans that no reference says; only an LLM can tell."""
    if options.judge is None:
        return
    samples = [
        {
            "id": str(number),
            "query": item.query,
            "answer": " ".join(item.references),
            "references": [" ".join(span.text for span in _evidence(item))],
        }
        for number, item in enumerate(items)
        if _evidence(item) and item.references
    ]
    for name, value, explanation in _scores(
        samples, "factual_correctness.recall", options, open_ones, "complete"
    ):
        if value < 1:
            sentence = f"the references leave out facts of the gold spans: {explanation}"
            yield items[int(name)].id, sentence, "look"


def _answered(
    items: Sequence[GoldenItem],
    documents: Mapping[str, Document],
    options: CheckOptions,
    open_ones: Counter[str],
) -> Iterator[Told]:
    """Unanswerable queries that some paragraph answers."""
    asked = [item for item in items if item.answerability is Answerability.UNANSWERABLE]
    if not asked or not documents:
        return
    paragraphs = [
        block
        for one in documents.values()
        for block in re.split(r"\n\s*\n", one.text)
        if block.strip()
    ]
    bags = [set(_words(block).split()) for block in paragraphs]
    seen = Counter(word for bag in bags for word in bag)
    samples = []
    for number, item in enumerate(asked):
        words = set(_words(item.query).split())
        worth = [sum(1 / seen[word] for word in words & bag) for bag in bags]
        best = sorted(range(len(bags)), key=lambda at, worth=worth: -worth[at])[:_PARAGRAPHS]  # type: ignore[misc]
        samples += [
            {"id": f"{number}/{at}", "query": item.query, "passages": [{"text": paragraphs[at]}]}
            for at in best
            if worth[at]
        ]
    for name, value, _ in _scores(samples, "umbrela", options, open_ones, "answered"):
        if value >= _ANSWERS:
            place, _, paragraph = name.partition("/")
            block = " ".join(paragraphs[int(paragraph)].split())
            sentence = f"it is unanswerable, and the documents may answer it: {block[:120]!r}"
            yield asked[int(place)].id, sentence, "look"


def _blindness(
    items: Sequence[GoldenItem], options: CheckOptions
) -> dict[tuple[str, str], tuple[int, int]]:
    """How many wrong answers each metric scores as high as a right one."""
    tried = [item for item in items if item.negative_references and len(item.references) > 1]
    samples = []
    for number, item in enumerate(tried):
        for at, reference in enumerate(item.references):
            others = [one for place, one in enumerate(item.references) if place != at]
            samples.append({"id": f"{number}/+{at}", "answer": reference, "references": others})
        samples += [
            {"id": f"{number}/-{at}", "answer": one.text, "references": item.references}
            for at, one in enumerate(item.negative_references)
        ]
    blind: dict[tuple[str, str], tuple[int, int]] = {}
    for metric in options.metrics if samples else ():
        values = {
            name: value for name, value, _ in _scores(samples, metric, options, Counter(), "")
        }
        for number, item in enumerate(tried):
            right = [
                values[f"{number}/+{at}"]
                for at in range(len(item.references))
                if f"{number}/+{at}" in values
            ]
            for at, one in enumerate(item.negative_references):
                wrong = values.get(f"{number}/-{at}")
                if wrong is None or not right:
                    continue
                key = (metric, one.kind or "wrong")
                n, of = blind.get(key, (0, 0))
                blind[key] = (n + (wrong >= max(right)), of + 1)
    return blind


def _uncovered(items: Sequence[GoldenItem], log: Sequence[str]) -> list[str]:
    """Queries of a log that no item is like."""
    texts = [_words(item.query) for item in items]
    missing = []
    for begin in range(0, len(log), _ROWS):
        rows = log[begin : begin + _ROWS]
        likeness = process.cdist(
            [_words(one) for one in rows], texts, scorer=fuzz.token_set_ratio, workers=-1
        )
        nearest = likeness.max(axis=1) if texts else np.zeros(len(rows))
        missing += [one for one, near in zip(rows, nearest, strict=True) if near < _COVERED]
    return missing


def _coverage(
    items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> dict[str, dict[str, int]]:
    """Items by document and by what their fields say."""
    by_document = Counter(
        name for item in items for name in {span.document for span in item.gold or ()}
    )
    tables = {"document": {name: by_document.get(name, 0) for name in documents}}
    for name in ("type", "complexity", "source", "language", "answerability", "origin", "status"):
        counts = Counter(str(getattr(item, name) or "not said") for item in items)
        if set(counts) != {"not said"}:
            tables[name] = dict(counts.most_common())
    lengths = Counter(_length(item) for item in items)
    return {**tables, "length of the query": {key: lengths[key] for key in sorted(lengths)}}


def _length(item: GoldenItem) -> str:
    n = len(item.query.split())
    return next(label for most, label in _LENGTHS if n <= most)


_LENGTHS = ((5, "1 to 5 words"), (15, "6 to 15 words"), (float("inf"), "over 15 words"))


def _scores(
    samples: Sequence[Mapping[str, Any] | Sample],
    metric: str,
    options: CheckOptions,
    open_ones: Counter[str],
    check_name: str,
) -> Iterator[tuple[str, float, str]]:
    """Id, value and explanation of each sample that a metric scores. Counts those without a score
    for the check."""
    if not samples:
        return
    costs: dict[str, Any] = {} if options.budget is None else {"budget": options.budget}
    result = evaluate(samples, metrics=[metric], judge=options.judge, **costs)
    for row in result.scores:
        if isinstance(row.value, int | float):
            yield row.sample, float(row.value), row.explanation
        else:
            open_ones[check_name] += 1


def _evidence(item: GoldenItem) -> list[GoldSpan]:
    """The gold spans that are relevant: a person may have graded others as not relevant."""
    return [span for span in item.gold or () if span.grade > 0]


def _nobody(name: str) -> None:
    """Tells nobody which check begins."""


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
