"""What is wrong with a golden set, or worth a look, before a system is judged by it, and what its
items cover. Here: what a judge finds, and metrics that give wrong answers as much as right ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz

from ragassay.base.note import Note
from ragassay.base.printable import grouped
from ragassay.base.sample import Answerability
from ragassay.golden import rule_checks
from ragassay.golden.documents import Document
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem, excerpt
from ragassay.golden.golden_parts import alike_texts, plain
from ragassay.golden.rule_checks import CheckOptions, Finding, Findings, Look, clause
from ragassay.judges.offline.words import n_words, tokens
from ragassay.texts.languages import without_yes_or_no

_ANSWERS = 3.0
"""UMBRELA's grade of a passage that holds the answer."""
_PARAGRAPHS = 3
"""Paragraphs that are looked at for an answer to an unanswerable query."""
_PARAGRAPH = re.compile(r"\S.*?(?=\s*(?:\n\s*\n|\Z))", re.DOTALL)


def support(look: Look) -> Findings:
    """Claims of references that the gold spans alone do not support. The offline judge compares
    words and knows no other wording: one reference that it finds supported is enough for it."""
    asked = {
        (at, reference): {
            "query": item.query,
            "answer": without_yes_or_no(reference) or reference,
            "passages": [{"text": span.text} for span in item.evidence],
        }
        for at, item in enumerate(look.items)
        if item.evidence
        for reference in item.references
    }
    scores = look.scores(asked, "faithfulness", "support")
    by_item = grouped((at, (value, reference, why)) for (at, reference), value, why in scores)
    for at, of_item in sorted(by_item.items()):
        lacking = [pair for pair in of_item if pair[0] < 1]
        if look.options.judge is None:
            lacking = [min(of_item)] if len(lacking) == len(of_item) else []
        for _, reference, explanation in lacking:
            why = explanation.replace("the passages", "its gold spans")
            about = {"reference": reference, "why": why, "judge": look.judge}
            yield Finding(Note("unsupported", about), look.items[at].id)


def complete(look: Look) -> Findings:
    """Facts of the gold spans that no reference says; only an LLM can tell."""
    asked = {
        item.id: {
            "query": item.query,
            "answer": " ".join(item.references),
            "references": [item.evidence_text],
        }
        for item in (look.items if look.options.judge else ())
        if item.evidence and item.references
    }
    for name, value, why in look.scores(asked, "factual_correctness.recall", "complete"):
        if value < 1:
            yield Finding(Note("incomplete", {"why": why}), name)


def answered(look: Look) -> Findings:
    """Unanswerable queries that some paragraph answers; only an LLM can tell."""
    items = [
        item
        for item in (look.items if look.options.judge else ())
        if item.answerability is Answerability.UNANSWERABLE
    ]
    blocks = [
        (f"{document.id}:{start + match.start()}", match[0])
        for document in (look.documents.values() if items else ())
        for _, start, end in document.parts()
        for match in _PARAGRAPH.finditer(document.text[start:end])
    ]
    bags = [set(tokens(block)) for _, block in blocks]
    n_holding = Counter(word for bag in bags for word in bag)
    asked = {}
    for item in items:
        words = set(tokens(item.query))
        worth = [sum(1 / n_holding[word] for word in words & bag) for bag in bags]
        for at in sorted(range(len(bags)), key=worth.__getitem__, reverse=True)[:_PARAGRAPHS]:
            if worth[at]:
                asked[item.id, at] = {"query": item.query, "passages": [{"text": blocks[at][1]}]}
    for (name, at), value, _ in look.scores(asked, "umbrela", "answered"):
        if value >= _ANSWERS:
            place, block = blocks[at]
            about = {"place": place, "text": excerpt(" ".join(block.split()))}
            yield Finding(Note("answered_after_all", about), name)


Blind = dict[tuple[str, str], tuple[int, int]]
"""For each metric and kind of wrong answer, how many score as high as the best right one, of how
many."""


def blindness_of(look: Look) -> tuple[Blind, int]:
    """Scores right and wrong answers of the items that have wrong ones, by each metric; also how
    many items have no right answer to compare with. A right answer is a reference, scored against
    the others (against itself it has the highest score), or, where there is one, the text of the
    gold spans."""
    wronged = [item for item in look.items if item.negative_references]
    tried = [(item, right) for item in wronged if (right := _right(item))]
    counts: Blind = {}
    answers: dict[tuple[int, bool, int], Mapping[str, Any]] = {}
    """By the place of an item, whether it is right, and its place among those of the item."""
    for at, (item, answers_of) in enumerate(tried):
        for n, (answer, others) in enumerate(answers_of):
            answers[at, True, n] = {"answer": answer, "references": list(others)}
        for n, negative_reference in enumerate(item.negative_references):
            answers[at, False, n] = {
                "answer": negative_reference.text,
                "references": item.references,
            }
    for metric in dict.fromkeys(look.options.metrics):
        values = {key: value for key, value, _ in look.scores(answers, metric, "")}
        rights = grouped((at, value) for (at, is_right, _), value in values.items() if is_right)
        for (at, is_right, n), value in values.items():
            if not is_right and at in rights:
                key = metric, tried[at][0].negative_references[n].kind or "wrong"
                n_blind, of = counts.get(key, (0, 0))
                counts[key] = n_blind + (value >= max(rights[at])), of + 1
    return counts, len(wronged) - len(tried)


def _right(item: GoldenItem) -> list[tuple[str, Sequence[str]]]:
    """Right answers, each with references that it is not one of."""
    references = list({plain(reference): reference for reference in item.references}.values())
    if len(references) > 1:
        return [
            (reference, [other for other in references if other is not reference])
            for reference in references
        ]
    gold = plain(item.evidence_text)
    is_right = references and gold and gold != plain(references[0])
    return [(item.evidence_text, references)] if is_right else []


CHECKS: Mapping[str, Callable[[Look], Findings]] = {
    "documents": rule_checks.changed_documents,
    "spans": rule_checks.misplaced_spans,
    "repeated": rule_checks.repeated_texts,
    "leak": rule_checks.leaks,
    "contradiction": rule_checks.contradictions,
    "duplicate": rule_checks.duplicates,
    "age": rule_checks.ages,
    "support": support,
    "complete": complete,
    "answered": answered,
}
"""What finds something, by name; the words of what is found are among those of notes."""
_FIELDS = ("type", "complexity", "source", "language", "answerability", "origin", "status")
_COVERED = 60.0
"""How alike a query of a log and one of the set are, so that the set covers it, 0 to 100."""
_LENGTHS = ((5, "1 to 5 words"), (15, "6 to 15 words"), (float("inf"), "over 15 words"))


@dataclass
class Checked:
    """What the checks found; the items by document, type and so on, queries of the log that the
    set has nothing like, and what could not be checked, with the reason."""

    n_items: int
    findings: list[Finding]
    blindness: Blind
    coverage: dict[str, dict[str, int]]
    uncovered: list[str] | None
    skipped: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        findings = [finding.to_json() for finding in self.findings]
        blindness = [
            {"metric": metric, "kind": kind, "blind": n, "of": of}
            for (metric, kind), (n, of) in self.blindness.items()
        ]
        return {**vars(self), "findings": findings, "blindness": blindness}


def check(
    golden: GoldenSet, options: CheckOptions | None = None, *, evaluate: Callable[..., Any]
) -> Checked:
    """Checks a golden set, by `ragassay.evaluate` where a judge is asked or metrics are computed.
    Rejected items are left out."""
    look = Look(golden, options or CheckOptions(), evaluate)
    findings = [pair._replace(check=name) for name, find in CHECKS.items() for pair in find(look)]
    blindness, n_without = blindness_of(look)
    skipped = {
        check: clause(Note("not_answered", {"judge": look.judge, "n": n}))
        for check, n in look.unscored.items()
        if check
    }
    if look.options.judge is None:
        skipped |= dict.fromkeys(("complete", "answered"), clause(Note("needs_llm")))
    if n_without:
        skipped["blindness"] = clause(Note("no_right_answer", {"n": n_without}))
    cover, log = coverage(look.items, look.documents), look.options.log
    uncovered = None
    if log:
        asked = [plain(item.query) for item in look.items]
        alike = alike_texts([plain(text) for text in log], asked, fuzz.token_set_ratio, _COVERED)
        covered = {at for at, _ in alike}
        uncovered = [query for at, query in enumerate(log) if at not in covered]
    return Checked(len(look.items), findings, blindness, cover, uncovered, skipped)


def coverage(
    items: Sequence[GoldenItem], documents: Mapping[str, Document]
) -> dict[str, dict[str, int]]:
    """The number of items by document and by each value of some fields."""
    by_document = Counter(
        name for item in items for name in {span.document for span in item.gold or ()}
    )
    tables = {"document": {name: by_document.get(name, 0) for name in documents}}
    for name in _FIELDS:
        counts = Counter(str(getattr(item, name) or "not said") for item in items)
        if set(counts) != {"not said"}:
            tables[name] = dict(counts.most_common())
    lengths = Counter(
        next(label for most, label in _LENGTHS if n_words(item.query) <= most) for item in items
    )
    return {**tables, "length of the query": {key: lengths[key] for key in sorted(lengths)}}
