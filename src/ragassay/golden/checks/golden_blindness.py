"""Which metrics give wrong answers as much as right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragassay.base.counts import either, plural
from ragassay.golden.checks.golden_groups import evidence, plain
from ragassay.golden.golden_item import GoldenItem

Scorer = Callable[[Sequence[Mapping[str, Any]], str], dict[str, float]]
"""Gives the value of each answer that a metric (by its name) scores, by its id."""


@dataclass
class Blindness:
    """Which metrics do not see which mistakes.

    Attributes:
        counts: for each metric and kind of wrong answer, how many score as high as the best right
            one, of how many.
        blind: for each of them the ids of the items of these answers.
        by_gold: ids of the items whose right answer is the text of their gold spans.
        untold: for how many items nobody can tell and why; empty for none.
    """

    counts: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    blind: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    by_gold: list[str] = field(default_factory=list)
    untold: str = ""


def blindness_of(items: Sequence[GoldenItem], metrics: Sequence[str], scorer: Scorer) -> Blindness:
    """Scores right and wrong answers by each metric.

    A wrong answer is scored against all references. A right answer is a reference that is scored
    against the other ones, for against itself it has the highest score by each metric. Where there
    is one reference, the right answer is the text of the gold spans, which hold the answer in other
    words; where this is no other text, nobody can tell.
    """
    blindness = Blindness()
    tried: list[tuple[GoldenItem, int]] = []
    samples: list[dict[str, Any]] = []
    n_alone = n_without = 0
    for item in items:
        if not item.negative_references:
            continue
        if not item.references:
            n_without += 1
            continue
        right = _right(item)
        if not right:
            n_alone += 1
            continue
        if not _has_second(item):
            blindness.by_gold.append(item.id)
        number = len(tried)
        tried.append((item, len(right)))
        samples += [
            {"id": f"{number}/+{at}", "answer": answer, "references": list(references)}
            for at, (answer, references) in enumerate(right)
        ]
        samples += [
            {"id": f"{number}/-{at}", "answer": one.text, "references": item.references}
            for at, one in enumerate(item.negative_references)
        ]
    for metric in dict.fromkeys(metrics) if samples else ():
        values = scorer(samples, metric)
        for number, (item, n_right) in enumerate(tried):
            names = [f"{number}/+{at}" for at in range(n_right)]
            best = [values[name] for name in names if name in values]
            for at, one in enumerate(item.negative_references):
                wrong = values.get(f"{number}/-{at}")
                if wrong is None or not best:
                    continue
                key = (metric, one.kind or "wrong")
                n, of = blindness.counts.get(key, (0, 0))
                blindness.counts[key] = (n + (wrong >= max(best)), of + 1)
                ids = blindness.blind.setdefault(key, [])
                if wrong >= max(best) and item.id not in ids:
                    ids.append(item.id)
    blindness.untold = _untold(n_alone, n_without)
    return blindness


def _has_second(item: GoldenItem) -> bool:
    """Whether a reference is another wording of a second one: not only the words of the gold spans
    around it."""
    references = list(dict.fromkeys(f" {plain(one)} " for one in item.references))
    gold = f" {plain(' '.join(span.text for span in evidence(item)))} "
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
    gold = " ".join(span.text for span in evidence(item))
    return [(gold, references)] if gold.strip() and plain(gold) != plain(references[0]) else []


def _untold(n_alone: int, n_without: int) -> str:
    parts = []
    if n_alone:
        have = either(n_alone, "has", "have")
        parts.append(
            f"{plural(n_alone, 'item')} with wrong answers {have} one reference and no gold span "
            "in other words, so that there is no right answer to compare them with (write a second "
            "wording of the reference)"
        )
    if n_without:
        have = either(n_without, "has", "have")
        parts.append(
            f"{plural(n_without, 'item')} with wrong answers {have} no reference, as nothing "
            "answers the query"
        )
    return "; ".join(parts)
