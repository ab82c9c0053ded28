"""Facts that a result has to say beside its numbers, without the words for them.

What computes a result emits notes. The words are in ``reports/text/note_words.yaml``, one sentence
a kind, and `ragassay.reports.text.said` fills them in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
