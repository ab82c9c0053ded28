"""The lines below the table of a comparison."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from textwrap import wrap
from typing import NamedTuple

from ragassay.engine.results.comparison_result import Comparison
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


def comparison_lines(comparison: Comparison, width: int = 0) -> Lines:
    """What stands below a comparison: at most `MOST_LINES` lines, warnings first. Where there is
    more to say, the last line says how much.

    Args:
        comparison: of two runs.
        width: of a line, in characters; by default each note is one line.
    """
    said = every_note(comparison)
    warned = len(said.warnings)
    notes = [*said.warnings, *said.notes]
    ends = [
        *accumulate(
            len(wrap(f"⚠ {note}", width, break_on_hyphens=False)) if width else 1 for note in notes
        )
    ]
    if not ends or ends[-1] <= MOST_LINES:
        return said
    shown = sum(end < MOST_LINES for end in ends)
    more = wording.plural(len(notes) - shown, "more note" if shown else "note")
    hidden = f"{more}: --full, or the HTML page."
    return Lines(notes[: min(warned, shown)], [*notes[warned:shown], hidden])


def every_note(comparison: Comparison) -> Lines:
    """What there is to say to read a comparison.

    Args:
        comparison: of two runs.
    """
    warnings = [*all_said(comparison.notes, "warning"), *comparison.warnings]
    return Lines(warnings, all_said(comparison.notes, "note"))


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
    lines = every_note(comparison)
    return Lines(lines.warnings, [*lines.notes, *method_lines(comparison)])


def gate_notes(comparison: Comparison) -> list[str]:
    """What each gate of a comparison found."""
    return [f"{gate.sentence[:1].upper()}{gate.sentence[1:]}." for gate in comparison.gates]
