"""Which metrics give wrong answers as much as right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragassay.base.note import Note
from ragassay.golden.checks.golden_groups import plain
from ragassay.golden.golden_item import GoldenItem

Answer = tuple[int, bool, int]
"""Place of an item, whether the answer is right, and its place among those of the item."""
Scorer = Callable[[Mapping[Answer, Mapping[str, Any]], str], Mapping[Answer, float]]
"""Gives the value of each answer that a metric (by its name) scores."""


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


def blindness_of(items: Sequence[GoldenItem], metrics: Sequence[str], scorer: Scorer) -> Blindness:
    """Scores right and wrong answers of the items that have wrong ones, by each metric.

    A wrong answer is scored against all references. A right answer is a reference that is scored
    against the other ones, for against itself it has the highest score by each metric. Where there
    is one reference, the right answer is the text of the gold spans, which hold the answer in other
    words; where this is no other text, nobody can tell.
    """
    wronged = [item for item in items if item.negative_references]
    referenced = [item for item in wronged if item.references]
    tried = [(item, right) for item in referenced if (right := _right(item))]
    blindness = Blindness(by_gold=[item.id for item, _ in tried if not _has_second(item)])
    for kind, n in (
        ("no_right_answer", len(referenced) - len(tried)),
        ("no_reference_at_all", len(wronged) - len(referenced)),
    ):
        blindness.untold += [Note(kind, {"n": n})] * bool(n)
    answers: dict[Answer, dict[str, Any]] = {}
    for at, (item, right) in enumerate(tried):
        for n, (answer, others) in enumerate(right):
            answers[at, True, n] = {"answer": answer, "references": list(others)}
        for n, one in enumerate(item.negative_references):
            answers[at, False, n] = {"answer": one.text, "references": item.references}
    for metric in dict.fromkeys(metrics) if answers else ():
        values = scorer(answers, metric)
        best: dict[int, float] = {}
        for (at, is_right, _), value in values.items():
            if is_right:
                best[at] = max(value, best.get(at, value))
        for at, is_right, n in answers:
            wrong = None if is_right else values.get((at, is_right, n))
            if wrong is None or at not in best:
                continue
            item = tried[at][0]
            key = metric, item.negative_references[n].kind or "wrong"
            is_blind = wrong >= best[at]
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
