"""What is wrong with a golden set, or worth a look, before a system is judged by it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import combinations, islice
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process

from ragassay.counts import few, plural
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
    excerpt,
    language_of,
    without_yes_or_no,
)
from ragassay.judges.offline import contradicted
from ragassay.judges.offline.language import content, spaced, tokens
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
        blind_items: for each of them the ids of the items of these answers.
        by_gold: items without a second wording of their reference, whose right answer is the text
            of the gold spans.
        by_gold_items: their ids.
        coverage: for each property (``document``, ``type`` ...) the items of each value.
        uncovered: queries of the log that the set has nothing like; ``None`` without a log.
        skipped: checks that could not be made, in whole or in part, and why.
    """

    n_items: int
    findings: list[Finding] = field(default_factory=list)
    blindness: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    blind_items: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    by_gold: int = 0
    by_gold_items: list[str] = field(default_factory=list)
    coverage: dict[str, dict[str, int]] = field(default_factory=dict)
    uncovered: list[str] | None = None
    skipped: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return {
            "n_items": self.n_items,
            "findings": [vars(one) for one in self.findings],
            "blindness": [
                {
                    "metric": metric,
                    "kind": kind,
                    "blind": blind,
                    "of": of,
                    "items": self.blind_items.get((metric, kind), []),
                }
                for (metric, kind), (blind, of) in self.blindness.items()
            ],
            "blindness_by_gold": self.by_gold,
            "blindness_by_gold_items": self.by_gold_items,
            "coverage": self.coverage,
            "uncovered": self.uncovered,
            "skipped": self.skipped,
        }


def check(golden: GoldenSet, options: CheckOptions | None = None) -> Checked:
    """Checks a golden set. Rejected items are left out.

    Args:
        golden: the set.
        options: what is checked, and by whom.

    Raises:
        InputError: a document cannot be read.
        UsageError: an unknown metric or judge.
    """
    chosen = options or CheckOptions()
    items = golden.with_status("accepted", "draft")
    are_needed = golden.known_documents() or any(item.gold for item in items)
    documents = golden.documents() if are_needed else {}
    found = Checked(len(items), coverage=coverage(items, documents))
    open_ones: Counter[str] = Counter()
    unanswerable = [one for one in items if one.answerability is Answerability.UNANSWERABLE]
    asked = unanswerable if chosen.judge else _in_english(unanswerable, documents)
    checks: dict[str, Callable[[], Iterator[Told]]] = {
        "documents": lambda: about_documents(golden, documents),
        "spans": lambda: _spans(items, documents),
        "repeated": lambda: _repeated(items, documents),
        "leak": lambda: _leaks(items),
        "contradiction": lambda: _contradictions(items),
        "duplicate": lambda: _duplicates(items),
        "age": lambda: _ages(items, golden.changed_documents(), chosen),
        "support": lambda: _support(items, chosen, open_ones),
        "complete": lambda: _complete(items, chosen, open_ones),
        "answered": lambda: _answered(asked, documents, chosen, open_ones),
    }
    for name, findings in checks.items():
        found.findings += [Finding(name, *one) for one in findings()]

    def values(samples: Sequence[Mapping[str, Any]], metric: str) -> dict[str, float]:
        return {name: value for name, value, _ in _scores(samples, metric, chosen, Counter(), "")}

    tried = blindness_of(items, chosen.metrics, values)
    found.blindness, found.blind_items = tried.counts, tried.blind
    found.by_gold, found.by_gold_items = len(tried.by_gold), tried.by_gold
    if chosen.log:
        found.uncovered = _uncovered(items, chosen.log)
    who = chosen.judge or "the offline judge"
    found.skipped = {
        name: f"{who} could not say of {CountedFact(_OPEN[name], n)}"
        for name, n in open_ones.items()
    }
    if tried.untold:
        found.skipped["blindness"] = tried.untold
    if chosen.judge is None:
        found.skipped["complete"] = "what references leave out is told by an LLM only (--judge)"
        if unanswerable and documents:
            said = f"{who} compares words, and misses short answers (--judge names an LLM)"
            found.skipped["answered"] = said
        if left_out := len(unanswerable) - len(asked):
            n = plural(left_out, "query")
            only = f"{who} knows what is asked in English only: {n} left out"
            found.skipped["answered"] = "; ".join(
                filter(None, (found.skipped.get("answered"), only))
            )
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


def _repeated(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> Iterator[Told]:
    """Texts of gold that stand elsewhere, too, where they are no gold of the item."""
    texts = {
        item.id: dict.fromkeys(" ".join(one.text.split()) for one in evidence(item))
        for item in items
    }
    holders = _holders({text for found in texts.values() for text in found}, documents)
    for item in items:
        spans = evidence(item)
        for text in texts[item.id]:
            if text not in holders:
                continue
            pattern = re.compile(r"\s+".join(map(re.escape, text.split())))
            places = [
                f"{name}:{found.start()}"
                for name in holders[text]
                for found in islice(pattern.finditer(documents[name].text), _MOST_PLACES)
                if not any(
                    span.document == name and span.start < found.end() and found.start() < span.end
                    for span in spans
                )
            ]
            if places:
                yield (
                    item.id,
                    f"{excerpt(text)} stands also at {few(places)}, where it is no gold: who "
                    "retrieves it there is not credited with it",
                    "look",
                )


def _holders(texts: Iterable[str], documents: Mapping[str, Document]) -> dict[str, list[str]]:
    """The documents that hold each text, white space aside. Texts below `_TELLING` are left out.

    Each document is read once, however many texts there are.
    """
    by_start = defaultdict[str, list[str]](list)
    for text in texts:
        if len(text) >= _TELLING:
            by_start[text[:_TELLING]].append(text)
    holders = defaultdict[str, list[str]](list)
    for name, document in documents.items():
        whole = " ".join(document.text.split())
        pieces = (whole[at : at + _TELLING] for at in range(len(whole) - _TELLING + 1))
        for start in {piece for piece in pieces if piece in by_start}:
            for text in by_start[start]:
                if text in whole:
                    holders[text].append(name)
    return holders


_TELLING = 20
"""Characters of a text that does not stand at several places by chance."""
_MOST_PLACES = 50
"""Places of a text in a document that are looked for."""


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
        for one, other in combinations(item.references, 2):
            if differ := _same_but_for(one, other):
                sentence = f"the references {one!r} and {other!r} differ in {differ} alone"
                yield item.id, sentence, "look"


def _same_but_for(one: str, other: str) -> str:
    """What alone tells two texts apart: a number in digits, a negation; empty for anything else."""
    words, others = plain(one).split(), plain(other).split()
    first, second = _numbers(one), _numbers(other)
    kept = [word for word in words if not _DIGITS.search(word)]
    if first and second and first.isdisjoint(second):
        same = kept == [word for word in others if not _DIGITS.search(word)]
        return "a number" if same else ""
    for fewer, more in ((words, others), (others, words)):
        without = [word for word in more if word not in _NEGATIONS]
        if without == fewer and fewer and len(without) < len(more):
            return "a negation"
    return ""


_NEGATIONS = frozenset({"not", "never", "nicht", "nie", "niemals", "pas", "jamais", "no", "nunca"})
"""Words that turn a sentence round, without which it is one."""


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
    if options.max_age is not None:
        noted = [(one.verified_on, one.id) for one in items if one.verified_on is not None]
        for day, name in sorted(noted):
            if (days := (today - day).days) > options.max_age:
                yield name, f"it was verified {days:,} days ago", "look"
        if unknown := [one.id for one in items if one.verified_on is None]:
            n = plural(len(unknown), "item")
            yield "", f"nobody noted when {n} were verified: {few(unknown)}", "look"
    for item in items:
        verified = item.verified_on
        if verified is None:
            continue
        if verified > today + _ZONES:
            yield item.id, f"it was verified on {verified}, a day that is still to come", "error"
        for name in dict.fromkeys(span.document for span in evidence(item)):
            if name in changed and changed[name] > verified:
                yield item.id, f"{name} changed after it was verified on {verified}", "look"


_ZONES = timedelta(days=1)
"""By how much the day of a person is ahead of that of UTC."""


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
    told: defaultdict[int, dict[str, tuple[float, str]]] = defaultdict(dict)
    for name, value, explanation in _scores(samples, "rl_f", options, open_ones, "support"):
        number, _, at = name.partition("/")
        reference = items[int(number)].references[int(at)]
        told[int(number)][reference] = (
            value,
            explanation.replace("the passages", "its gold spans"),
        )
    who = options.judge or "the offline judge"
    for place, references in sorted(told.items()):
        item = items[place]
        supported = [one for one, (value, _) in references.items() if value >= 1]
        lacking = {one: said for one, said in references.items() if said[0] < 1}
        if not supported and lacking:
            lacking = dict([min(lacking.items(), key=lambda one: one[1][0])])
        elif options.judge is None:
            # It compares words: of another wording of an answer that is supported, only another
            # number or a contradiction says that it is wrong.
            held = [*(span.text for span in evidence(item)), *supported]
            lacking = {one: said for one, said in lacking.items() if _says_otherwise(one, held)}
        for reference, (_, explanation) in lacking.items():
            yield item.id, f"{reference!r}: {explanation}, says {who}", "look"


def _says_otherwise(reference: str, held: Sequence[str]) -> bool:
    """Whether a reference has a number in digits that none of some texts holds, in digits or in
    words, or denies what one of them says."""
    known = {word for text in held for word in content(spaced(text))}
    return not _numbers(reference) <= known or contradicted(reference, held) in _DENIED


_DENIED = ("negation", "opposite")


def _numbers(text: str) -> set[str]:
    """The numbers that a text writes in digits, each in one spelling."""
    in_words = set(content(spaced(_DIGITS.sub(" ", text))))
    return set(filter(_DIGITS.search, content(spaced(text)))) - in_words


_DIGITS = re.compile(r"\d+")


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
    blocks = [
        (f"{one.id}:{start + found.start()}", found[0])
        for one in documents.values()
        for _, start, end in one.parts()
        for found in _PARAGRAPH.finditer(one.text[start:end])
    ]
    paragraphs = [block for _, block in blocks]
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
            where, block = blocks[int(paragraph)]
            sentence = f"it is unanswerable, and {where} may answer it: {_beginning(block)}"
            yield asked[int(place)].id, sentence, "look"


_PARAGRAPH = re.compile(r"\S.*?(?=\s*(?:\n\s*\n|\Z))", re.DOTALL)
_QUOTED = 120
"""Characters of a paragraph that are quoted."""


def _beginning(text: str) -> str:
    """The beginning of a text in quotes, cut between two words."""
    line = " ".join(text.split())
    if len(line) <= _QUOTED:
        return repr(line)
    # What has no spaces, as Chinese has none, is cut anywhere.
    head, _, _ = line[: _QUOTED + 1].rpartition(" ")
    return repr(f"{head if len(head) > _QUOTED // 2 else line[:_QUOTED]} …")


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
