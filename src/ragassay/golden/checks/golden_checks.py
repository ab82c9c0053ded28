"""What is wrong with a golden set, or worth a look, before a system is judged by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ragassay.golden.checks import item_checks
from ragassay.golden.checks.document_checks import about_documents
from ragassay.golden.checks.golden_blindness import blindness_of
from ragassay.golden.checks.golden_coverage import coverage, uncovered
from ragassay.golden.checks.golden_findings import CheckOptions, Finding
from ragassay.golden.checks.judged_checks import JudgedChecks
from ragassay.golden.golden_folder import GoldenSet


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
            "findings": [one._asdict() for one in self.findings],
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


def check(
    golden: GoldenSet, options: CheckOptions | None = None, *, evaluate: Callable[..., Any]
) -> Checked:
    """Checks a golden set. Rejected items are left out."""
    chosen = options or CheckOptions()
    items = golden.with_status("accepted", "draft")
    are_needed = golden.known_documents() or any(item.gold for item in items)
    documents = golden.documents() if are_needed else {}
    judged = JudgedChecks(items, documents, chosen, evaluate)
    checks: dict[str, Callable[[], Iterator[Finding]]] = {
        "documents": lambda: about_documents(golden, documents),
        "spans": lambda: item_checks.misplaced_spans(items, documents),
        "repeated": lambda: item_checks.repeated_texts(items, documents),
        "leak": lambda: item_checks.leaks(items),
        "contradiction": lambda: item_checks.contradictions(items),
        "duplicate": lambda: item_checks.duplicates(items),
        "age": lambda: item_checks.ages(items, golden.changed_documents(), chosen),
        "support": judged.support,
        "complete": judged.complete,
        "answered": judged.answered,
    }
    findings = [found._replace(check=name) for name, finds in checks.items() for found in finds()]
    tried = blindness_of(items, chosen.metrics, judged.values)
    untold = {"blindness": tried.untold} if tried.untold else {}
    return Checked(
        len(items),
        findings,
        blindness=tried.counts,
        blind_items=tried.blind,
        by_gold=len(tried.by_gold),
        by_gold_items=tried.by_gold,
        coverage=coverage(items, documents),
        uncovered=uncovered(items, chosen.log) if chosen.log else None,
        skipped=judged.unscored() | untold | judged.without_llm(),
    )
