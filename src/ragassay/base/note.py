"""Facts that a result has to say beside its numbers, without the words for them.

What computes a result emits notes. The words are in ``reports/text/note_words.yaml``, one sentence
a kind, and `ragassay.reports.text.said` fills them in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ragassay.base import display
from ragassay.base.counts import grouped

Severity = Literal["warning", "note", "detail"]
"""``warning``: a reader may conclude wrongly without it. ``note``: it stands below a result.
``detail``: it stands where everything is shown."""


@dataclass(frozen=True, slots=True)
class Note:
    """One fact.

    Attributes:
        kind: names the sentence in the file of words.
        counts: numbers and short values of the sentence, by the name that it has there.
        names: metrics, systems or queries that it is about.
        severity: how much a reader needs it.
    """

    kind: str
    counts: Mapping[str, float | str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    severity: Severity = "note"

    def __str__(self) -> str:
        """Its sentence."""
        return display.find().said(self)

    @property
    def short(self) -> str:
        """Its words in the cell of a table, for a kind that has some."""
        return display.find().said(replace(self, kind=f"{self.kind}_short"))


def joined(notes: Iterable[Note]) -> list[Note]:
    """The notes, those of one fact about several names as one.

    Args:
        notes: those of one kind with the same counts and severity are one fact.

    Returns:
        A note a fact, in the order of the first of each.
    """
    by_fact = grouped(
        ((note.kind, tuple(note.counts.items()), note.severity), note) for note in notes
    )
    return [
        replace(same[0], names=tuple(dict.fromkeys(name for note in same for name in note.names)))
        for same in by_fact.values()
    ]
