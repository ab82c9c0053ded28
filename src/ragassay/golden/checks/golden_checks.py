"""What is wrong with a golden set, or worth a look, before a system is judged by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ragassay.golden.checks import item_checks
from ragassay.golden.checks.document_checks import about_documents
from ragassay.golden.checks.golden_blindness import Blindness, blindness_of
from ragassay.golden.checks.golden_coverage import coverage, uncovered
from ragassay.golden.checks.golden_findings import CheckOptions, Finding, clause
from ragassay.golden.checks.judged_checks import JudgedChecks
from ragassay.golden.golden_folder import GoldenSet


@dataclass
class Checked:
    """What the checks found.

    Attributes:
        coverage: for each property (``document``, ``type`` ...) the items of each value.
        uncovered: queries of the log that the set has nothing like; ``None`` without a log.
        skipped: checks that could not be made, in whole or in part, and why.
    """

    n_items: int
    findings: list[Finding]
    blindness: Blindness
    coverage: dict[str, dict[str, int]]
    uncovered: list[str] | None
    skipped: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        blindness = self.blindness
        return {
            "n_items": self.n_items,
            "findings": [one.to_json() for one in self.findings],
            "blindness": [
                {
                    "metric": metric,
                    "kind": kind,
                    "blind": blind,
                    "of": of,
                    "items": blindness.blind[metric, kind],
                }
                for (metric, kind), (blind, of) in blindness.counts.items()
            ],
            "blindness_by_gold": len(blindness.by_gold),
            "blindness_by_gold_items": blindness.by_gold,
            "coverage": self.coverage,
            "uncovered": self.uncovered,
            "skipped": self.skipped,
        }


def check(
    golden: GoldenSet, options: CheckOptions | None = None, *, evaluate: Callable[..., Any]
) -> Checked:
    """Checks a golden set, by `ragassay.evaluate` where a judge is asked or metrics are computed.
    Rejected items are left out."""
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
    untold = {"blindness": clause(*tried.untold)} if tried.untold else {}
    return Checked(
        len(items),
        findings,
        tried,
        coverage(items, documents),
        uncovered(items, chosen.log) if chosen.log else None,
        judged.unscored() | untold | judged.without_llm(),
    )
