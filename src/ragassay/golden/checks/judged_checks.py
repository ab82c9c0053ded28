"""Checks that a judge makes: whether gold spans support references, whether references leave facts
out, whether a paragraph answers an unanswerable query; and which metrics give wrong answers as much
as right ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragassay.base.counts import grouped
from ragassay.base.note import Note
from ragassay.base.sample import Answerability
from ragassay.golden.checks.item_checks import Finding, Findings, Look, clause, numbers
from ragassay.golden.golden_diff import excerpt
from ragassay.golden.golden_item import GoldenItem
from ragassay.golden.golden_parts import plain
from ragassay.judges.offline.questions import contradicted
from ragassay.judges.offline.words import content, spaced, tokens
from ragassay.texts.languages import code_of, language_of, without_yes_or_no

_ANSWERS = 3.0
"""UMBRELA's grade of a passage that holds the answer."""
_PARAGRAPHS = 3
"""Paragraphs that are looked at for an answer to an unanswerable query."""
_PARAGRAPH = re.compile(r"\S.*?(?=\s*(?:\n\s*\n|\Z))", re.DOTALL)
_BEGINNING = 1000
"""Characters of each document that tell its language."""
_OPEN = {
    "support": "support_unknown",
    "complete": "completeness_unknown",
    "answered": "answer_unknown",
}
"""The note about what is not known, by the check that a judge makes."""


def _who(look: Look) -> str:
    return look.options.judge or "the offline judge"


def support(look: Look) -> Findings:
    """Claims of references that the gold spans alone do not support."""
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
    scores = look.scores(asked, "rl_f", "support")
    by_item = grouped((at, (value, one, why)) for (at, one), value, why in scores)
    for at, of_item in sorted(by_item.items()):
        item = look.items[at]
        lacking = [one for one in of_item if one[0] < 1]
        if len(lacking) == len(of_item):
            lacking = [min(lacking, key=lambda one: one[0])]
        elif look.options.judge is None:
            # It compares words: of another wording of an answer that is supported, only another
            # number or a contradiction says that it is wrong.
            held = [span.text for span in item.evidence]
            held += [reference for value, reference, _ in of_item if value >= 1]
            lacking = [one for one in lacking if _says_otherwise(one[1], held)]
        for _, reference, explanation in lacking:
            why = explanation.replace("the passages", "its gold spans")
            told = {"reference": reference, "why": why, "judge": _who(look)}
            yield Finding(Note("unsupported", told), item.id)


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
    """Unanswerable queries that some paragraph answers."""
    items = _unanswerable(look, readable=True)
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
            yield Finding(
                Note(
                    "answered_after_all", {"place": place, "text": excerpt(" ".join(block.split()))}
                ),
                name,
            )


def _unanswerable(look: Look, *, readable: bool = False) -> list[GoldenItem]:
    """The unanswerable items; ``readable``: those whose language the judge reads."""
    items = [one for one in look.items if one.answerability is Answerability.UNANSWERABLE]
    if look.options.judge or not readable:
        return items
    # The offline judge reads English. Where a query's words do not tell, the documents do.
    around = language_of("\n".join(one.text[:_BEGINNING] for one in look.documents.values()))
    codes = (
        code_of(one.language) if one.language else language_of(one.query) or around for one in items
    )
    return [one for one, code in zip(items, codes, strict=True) if code in ("en", "")]


def not_checked(look: Look) -> dict[str, str]:
    """What the judge could not say, and what is not checked because none is named; by check."""
    who = {"judge": _who(look)}
    notes = {
        check: [Note(kind, {**who, "n": look.unscored[check]})]
        for check, kind in _OPEN.items()
        if look.unscored[check]
    }
    if look.options.judge is None:
        notes["complete"] = [Note("needs_llm")]
        items, limits = _unanswerable(look), []
        if items and look.documents:
            limits.append(Note("misses_short_answers", who))
        if n := len(items) - len(_unanswerable(look, readable=True)):
            limits.append(Note("english_only", {**who, "n": n}))
        if limits:
            notes["answered"] = limits
    return {check: clause(*of_check) for check, of_check in notes.items()}


def _says_otherwise(reference: str, held: Sequence[str]) -> bool:
    """Whether a reference has a number in digits that none of some texts holds, in digits or in
    words, or denies what one of them says."""
    words = {word for text in held for word in content(spaced(text))}
    denied = contradicted(reference, held) in ("negation", "opposite")
    return denied or not numbers(reference) <= words


@dataclass
class Blindness:
    """Which metrics do not see which mistakes.

    Attributes:
        counts: for each metric and kind of wrong answer, how many score as high as the best right
            one, of how many.
        blind: for each of them the ids of the items of these answers.
        by_gold: ids of the items without a second wording of their reference, whose right answer is
            the text of their gold spans.
        untold: of how many items nobody can tell, and why.
    """

    counts: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    blind: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    by_gold: list[str] = field(default_factory=list)
    untold: list[Note] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        rows = [
            {
                "metric": metric,
                "kind": kind,
                "blind": n,
                "of": of,
                "items": self.blind[metric, kind],
            }
            for (metric, kind), (n, of) in self.counts.items()
        ]
        by_gold = {"blindness_by_gold": len(self.by_gold), "blindness_by_gold_items": self.by_gold}
        return {"blindness": rows, **by_gold}


def blindness_of(look: Look) -> Blindness:
    """Scores right and wrong answers of the items that have wrong ones, by each metric.

    A wrong answer is scored against all references. A right answer is a reference that is scored
    against the other ones, for against itself it has the highest score by each metric. Where there
    is one reference, the right answer is the text of the gold spans, which hold the answer in other
    words; where this is no other text, nobody can tell.
    """
    wronged = [item for item in look.items if item.negative_references]
    referenced = [item for item in wronged if item.references]
    tried = [(item, right) for item in referenced if (right := _right(item))]
    blindness = Blindness(by_gold=[item.id for item, _ in tried if not _has_second(item)])
    for kind, n in (
        ("no_right_answer", len(referenced) - len(tried)),
        ("no_reference_at_all", len(wronged) - len(referenced)),
    ):
        blindness.untold += [Note(kind, {"n": n})] * bool(n)
    answers: dict[tuple[int, bool, int], Mapping[str, Any]] = {}
    """By the place of an item, whether it is right, and its place among those of the item."""
    for at, (item, right) in enumerate(tried):
        for n, (answer, others) in enumerate(right):
            answers[at, True, n] = {"answer": answer, "references": list(others)}
        for n, one in enumerate(item.negative_references):
            answers[at, False, n] = {"answer": one.text, "references": item.references}
    for metric in dict.fromkeys(look.options.metrics):
        values = {key: value for key, value, _ in look.scores(answers, metric, "")}
        best: dict[int, float] = {}
        for (at, is_right, _), value in values.items():
            if is_right:
                best[at] = max(value, best.get(at, value))
        for (at, is_right, n), value in values.items():
            if is_right or at not in best:
                continue
            item = tried[at][0]
            key = metric, item.negative_references[n].kind or "wrong"
            is_blind = value >= best[at]
            n_blind, of = blindness.counts.get(key, (0, 0))
            blindness.counts[key] = n_blind + is_blind, of + 1
            ids = blindness.blind.setdefault(key, [])
            if is_blind and item.id not in ids:
                ids.append(item.id)
    return blindness


def _has_second(item: GoldenItem) -> bool:
    """Whether a reference is another wording of a second one: not only the words of the gold spans
    around it."""
    references = list(dict.fromkeys(f" {plain(one)} " for one in item.references))
    gold = f" {plain(item.evidence_text)} "
    around = [
        one
        for one in references
        if one in gold and any(other in one and other != one for other in references)
    ]
    return len(references) - len(around) > 1


def _right(item: GoldenItem) -> list[tuple[str, Sequence[str]]]:
    """Right answers, each with references that it is not one of."""
    references = list({plain(one): one for one in item.references}.values())
    if len(references) > 1:
        return [(one, [other for other in references if other is not one]) for one in references]
    gold = item.evidence_text
    return [(gold, references)] if gold.strip() and plain(gold) != plain(references[0]) else []
