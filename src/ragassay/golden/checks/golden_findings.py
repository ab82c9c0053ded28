"""What is checked of a golden set, and what is found: facts, with words among those of notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple

from ragassay.base.note import Note

METRICS = ("contains_answer", "token_f1.f", "rougeL(tokens=unicode).f", "BLEU")
"""Metrics that are tried on wrong answers, where none are named."""

Severity = Literal["error", "look"]


@dataclass(frozen=True)
class CheckOptions:
    """What is checked.

    Attributes:
        judge: who says whether gold spans support references; the offline judge when left out.
        budget: what the judge may cost, in each of its checks (support, complete, answered).
        max_age: days since an item was verified, after which it is stale.
        today: the day that ages count from; today when left out.
    """

    judge: str | None = None
    budget: str | None = None
    metrics: Sequence[str] = METRICS
    max_age: int | None = None
    log: Sequence[str] = ()
    today: date | None = None


class Finding(NamedTuple):
    """Something about an item or the set.

    Attributes:
        item: the query's id; empty where it is about the set.
        severity: ``error``: it is wrong; ``look``: a person should look.
    """

    note: Note
    item: str = ""
    severity: Severity = "look"
    check: str = ""

    @property
    def sentence(self) -> str:
        """Its words."""
        return clause(self.note)

    def to_json(self) -> dict[str, str]:
        """A mapping of plain values."""
        told = {"sentence": self.sentence, "item": self.item}
        return {**told, "severity": self.severity, "check": self.check}


def finding(kind: str, item: str = "", severity: Severity = "look", **counts: Any) -> Finding:
    """A finding of a kind that has words; ``names`` among the counts are those of the note."""
    names = tuple(counts.pop("names", ()))
    return Finding(Note(kind, counts, names), item, severity)


def clause(*notes: Note) -> str:
    """The sentences of notes as part of one."""
    return "; ".join(str(one).removesuffix(".") for one in notes)
