"""What is wrong with a golden set, or worth a look, before a system is judged by it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process

from ragassay.counts import plural
from ragassay.engine.golden.document_checks import about_documents
from ragassay.engine.golden.golden_blindness import blindness_of
from ragassay.engine.golden.golden_coverage import coverage
from ragassay.engine.golden.golden_findings import Finding, Told
from ragassay.engine.golden.golden_groups import evidence, near_duplicates, plain
from ragassay.engine.run import evaluate
from ragassay.errors import CountedFact
from ragassay.golden import (
    Document,
    GoldenItem,
    GoldenSet,
    anchor,
    code_of,
    differing,
    language_of,
    without_yes_or_no,
)
from ragassay.judges.offline.language import spaced, tokens
from ragassay.samples import Answerability, Sample

METRICS = ("contains_answer", "token_f1.f", "rougeL(tokens=unicode).f", "BLEU")
"""Metrics that are tried on wrong answers, where none are named."""

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
_POLAR = {
    "yes": ("no",), "ja": ("nein",), "oui": ("non",), "sí": ("no",), "是": ("否", "不是"),
    "是的": ("否", "不是", "不是的"), "对": ("不对",), "對": ("不對",),
}  # fmt: skip
"""Words of yes, each with its words of no."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class CheckOptions:
    """What is checked.

    Attributes:
        judge: who says whether gold spans support references; the offline judge when left out.
        budget: what the judge may cost, in each of its checks (support, complete, answered).
        metrics: that are tried on wrong answers.
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
        by_gold: items with one reference whose right answer is the text of the gold spans there.
        coverage: for each property (``document``, ``type`` ...) the items of each value.
        uncovered: queries of the log that the set has nothing like; ``None`` without a log.
        skipped: checks that could not be made, in whole or in part, and why.
    """

    n_items: int
    findings: list[Finding] = field(default_factory=list)
    blindness: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    by_gold: int = 0
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
            "blindness_by_gold": self.by_gold,
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
    found = Checked(len(items), coverage=coverage(items, documents))
    say = progress or (lambda name: None)
    open_ones: Counter[str] = Counter()
    unanswerable = [one for one in items if one.answerability is Answerability.UNANSWERABLE]
    asked = unanswerable if chosen.judge else _in_english(unanswerable, documents)
    checks: dict[str, Callable[[], Iterator[Told]]] = {
        "documents": lambda: about_documents(golden, documents),
        "spans": lambda: _spans(items, documents),
        "leak": lambda: _leaks(items),
        "contradiction": lambda: _contradictions(items),
        "duplicate": lambda: _duplicates(items),
        "age": lambda: _ages(items, golden.changed_documents(), chosen),
        "support": lambda: _support(items, chosen, open_ones),
        "complete": lambda: _complete(items, chosen, open_ones),
        "answered": lambda: _answered(asked, documents, chosen, open_ones),
    }
    for name, findings in checks.items():
        say(name)
        found.findings += [Finding(name, *one) for one in findings()]
    say("blindness")

    def values(samples: Sequence[Mapping[str, Any]], metric: str) -> dict[str, float]:
        return {name: value for name, value, _ in _scores(samples, metric, chosen, Counter(), "")}

    found.blindness, found.by_gold, untold = blindness_of(items, chosen.metrics, values)
    if chosen.log:
        say("log")
        found.uncovered = _uncovered(items, chosen.log)
    who = chosen.judge or "the offline judge"
    found.skipped = {
        name: f"{who} could not say of {CountedFact(_OPEN[name], n)}"
        for name, n in open_ones.items()
    }
    if untold:
        found.skipped["blindness"] = untold
    if chosen.judge is None:
        found.skipped["complete"] = "what references leave out is told by an LLM only (--judge)"
        if left_out := len(unanswerable) - len(asked):
            n = plural(left_out, "query")
            found.skipped["answered"] = f"{who} knows what is asked in English only: {n} left out"
    return found


_OPEN = {
    "support": "{n} {reference|references} whether the gold spans support {it|them}",
    "complete": "{n} {item|items} whether the references leave facts out",
    "answered": "{n} {paragraph|paragraphs} whether {it answers|they answer} an unanswerable query",
}
"""What is not known, by the check that a judge makes."""


def _spans(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> Iterator[Told]:
    for item in items:
        for number, span in enumerate(item.gold or ()):
            one = documents.get(span.document)
            stands = "" if one is None else one.text[span.start : span.end]
            if stands == span.text:
                continue
            if one is None:
                sentence = f"there is no document {span.document!r}"
            elif span.end > len(one.text):
                sentence = (
                    f"it ends at {span.end}, and {span.document} has {len(one.text):,} characters"
                )
            else:
                wanted, there = differing(span.text, stands)
                sentence = f"{there} stands there, not {wanted}"
            [found] = anchor([item.model_copy(update={"gold": [span]})], documents)
            told = "finds it" if found.new is not None else f"says: {found.found}"
            yield item.id, f"gold {number}: {sentence} ('ragassay golden anchor' {told})", "error"
        if item.answerability not in (Answerability.ANSWERABLE, Answerability.PARTIAL, None):
            continue
        it = "no answerability is given" if item.answerability is None else "it is answerable"
        if not item.references:
            yield item.id, f"{it}, and it has no reference", "error"
        if not item.gold:
            yield item.id, f"{it}, and it has no gold span", "look"


def _leaks(items: Sequence[GoldenItem]) -> Iterator[Told]:
    for item in items:
        query = plain(spaced(item.query))
        for reference in item.references:
            words = plain(spaced(reference))
            if len(words) >= _SHORTEST and words.strip() and f" {words} " in f" {query} ":
                yield item.id, f"the query holds its answer {reference!r}", "error"


def _contradictions(items: Sequence[GoldenItem]) -> Iterator[Told]:
    for item in items:
        first = {plain(one).partition(" ")[0] for one in item.references}
        if any(yes in first and not first.isdisjoint(no) for yes, no in _POLAR.items()):
            yield item.id, "one reference says yes and another no", "error"
        wrong = {plain(one.text) for one in item.negative_references}
        for one in item.references:
            if plain(one) in wrong:
                yield item.id, f"{one!r} is both a reference and a wrong answer", "error"


def _duplicates(items: Sequence[GoldenItem]) -> Iterator[Told]:
    told: set[int] = set()
    for first, second in near_duplicates(items):
        # Of many alike each is told of the one before it.
        if second not in told:
            told.add(second)
            yield items[second].id, f"asks nearly the same as {items[first].id}", "look"


def _ages(
    items: Sequence[GoldenItem], changed: Mapping[str, date], options: CheckOptions
) -> Iterator[Told]:
    today = options.today or datetime.now(UTC).date()
    for item in items:
        verified = item.verified_on
        if verified is None:
            if options.max_age is not None:
                yield item.id, "nobody noted when it was verified", "look"
            continue
        if options.max_age is not None and (days := (today - verified).days) > options.max_age:
            yield item.id, f"it was verified {days:,} days ago", "look"
        for name in dict.fromkeys(span.document for span in evidence(item)):
            if name in changed and changed[name] > verified:
                yield item.id, f"{name} changed after it was verified on {verified}", "look"


def _support(
    items: Sequence[GoldenItem], options: CheckOptions, open_ones: Counter[str]
) -> Iterator[Told]:
    """Claims of references that the gold spans alone do not support."""
    samples = [
        {
            "id": f"{number}/{at}",
            "query": item.query,
            "answer": without_yes_or_no(reference) or reference,
            "passages": [{"text": span.text} for span in evidence(item)],
        }
        for number, item in enumerate(items)
        if evidence(item)
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
            "references": [" ".join(span.text for span in evidence(item))],
        }
        for number, item in enumerate(items)
        if evidence(item) and item.references
    ]
    for name, value, explanation in _scores(
        samples, "factual_correctness.recall", options, open_ones, "complete"
    ):
        if value < 1:
            sentence = f"the references leave out facts of the gold spans: {explanation}"
            yield items[int(name)].id, sentence, "look"


def _answered(
    asked: Sequence[GoldenItem],
    documents: Mapping[str, Document],
    options: CheckOptions,
    open_ones: Counter[str],
) -> Iterator[Told]:
    """Unanswerable queries that some paragraph answers."""
    if not asked or not documents:
        return
    paragraphs = [
        block
        for one in documents.values()
        for _, start, end in one.parts()
        for block in re.split(r"\n\s*\n", one.text[start:end])
        if block.strip()
    ]
    bags = [set(tokens(block)) for block in paragraphs]
    seen = Counter(word for bag in bags for word in bag)
    samples = []
    for number, item in enumerate(asked):
        words = set(tokens(item.query))
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


def _uncovered(items: Sequence[GoldenItem], log: Sequence[str]) -> list[str]:
    """Queries of a log that no item is like."""
    texts = [plain(item.query) for item in items]
    missing = []
    for begin in range(0, len(log), _ROWS):
        rows = log[begin : begin + _ROWS]
        likeness = process.cdist(
            [plain(one) for one in rows], texts, scorer=fuzz.token_set_ratio, workers=-1
        )
        nearest = likeness.max(axis=1) if texts else np.zeros(len(rows))
        missing += [one for one, near in zip(rows, nearest, strict=True) if near < _COVERED]
    return missing


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


def _in_english(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> list[GoldenItem]:
    """Items whose query is in English, or may be. Where its words do not tell, the documents do."""
    around = language_of("\n".join(one.text[:_BEGINNING] for one in documents.values()))
    codes = (
        code_of(one.language) if one.language else language_of(one.query) or around for one in items
    )
    return [one for one, code in zip(items, codes, strict=True) if code in ("en", "")]


_BEGINNING = 1000
"""Characters of each document that tell its language."""
