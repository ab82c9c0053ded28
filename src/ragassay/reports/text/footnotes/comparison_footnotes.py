"""The lines below the table of a comparison."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ragassay.engine.results import Comparison
from ragassay.reports.text import wording
from ragassay.reports.text.note_sentences import all_said

MOST_LINES = 4
"""Lines below a comparison, unless everything is shown."""


class Lines(NamedTuple):
    """What is said below a comparison.

    Attributes:
        warnings: without which a reader may conclude wrongly.
        notes: what helps to read it.
    """

    warnings: list[str]
    notes: list[str]


def verdict_line(comparison: Comparison) -> str:
    """One sentence that says how the comparison ended."""
    tally: Counter[str] = Counter(difference.verdict for difference in comparison.differences)
    words = {"unknown": "not testable", "indicative": "only a hint"}
    order = ("better", "worse", "different", "no difference shown", "unknown", "indicative",
             "exploratory", "not comparable")  # fmt: skip
    pieces = [f"{words.get(one, one)} on {tally[one]}" for one in order if tally[one]]
    if not pieces:
        return "The two runs share no metric."
    total = wording.plural(len(comparison.differences), "metric")
    return f"{comparison.a} against {comparison.b}: {', '.join(pieces)} of {total}."


def comparison_lines(comparison: Comparison, most: int = MOST_LINES) -> Lines:
    """What stands below a comparison: at most so many lines, warnings first.

    Args:
        comparison: of two runs.
        most: lines. Where there are more, the last says how many.
    """
    notes = comparison.notes
    warnings = [*all_said(notes, "warning"), *comparison.warnings]
    below = all_said(notes, "note")
    if len(warnings) + len(below) > most:
        n_hidden = len(warnings) + len(below) - (most - 1)
        warnings, below = warnings[: most - 1], below[: max(most - 1 - len(warnings), 0)]
        below.append(f"{wording.plural(n_hidden, 'more note')}: --full, or the HTML page.")
    return Lines(warnings, below)


def method_lines(comparison: Comparison) -> list[str]:
    """How a comparison was made.

    Args:
        comparison: of two runs.
    """
    return all_said(comparison.notes, "detail")


def every_line(comparison: Comparison) -> Lines:
    """All that there is to say: notes, and how a comparison was made.

    Args:
        comparison: of two runs.
    """
    lines = comparison_lines(comparison, most=10_000)
    return Lines(lines.warnings, [*lines.notes, *method_lines(comparison)])


def gate_notes(comparison: Comparison) -> list[str]:
    """What each gate of a comparison found."""
    return [f"{gate.sentence[:1].upper()}{gate.sentence[1:]}." for gate in comparison.gates]
