"""AutoNuggetizer's three questions: which facts, how important, which of them the answer holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from ragassay.counts import plural
from ragassay.judges.question import Question
from ragassay.judges.questions.keyed import Entry, Form, bounded, in_order
from ragassay.judges.reply import WORD, Reply

T = TypeVar("T")

Importance = Literal["vital", "okay"]
Assignment = Literal["support", "partial_support", "not_support"]
L = TypeVar("L", Importance, Assignment)


class NuggetList(Reply):
    """Atomic facts, each a few words."""

    nuggets: tuple[str, ...]


class NuggetImportances(Reply):
    """One label for each nugget asked about, in the same order."""

    labels: tuple[Annotated[Importance, WORD], ...]


class NuggetAssignments(Reply):
    """One label for each nugget asked about, in the same order."""

    labels: tuple[Annotated[Assignment, WORD], ...]


class ImportanceEntry(Entry):
    """How important one nugget is."""

    label: Annotated[Importance, WORD]


class ImportanceForm(Form):
    """An entry for each nugget."""

    verdicts: tuple[ImportanceEntry, ...]


class AssignmentEntry(Entry):
    """Whether the answer holds one nugget."""

    label: Annotated[Assignment, WORD]


class AssignmentForm(Form):
    """An entry for each nugget."""

    verdicts: tuple[AssignmentEntry, ...]


@dataclass(frozen=True)
class ExtractNuggets(Question[NuggetList]):
    """The atomic facts in the passages that answer the query, beside those already ``known``.

    The answer holds only new ones; an empty list says that nothing new is there.
    ``most`` and ``words`` are the largest number of nuggets altogether and of words in one.
    """

    query: str
    passages: tuple[str, ...]
    known: tuple[str, ...] = ()
    most: int = 30
    words: int = 12

    kind = "extract_nuggets"
    reply = NuggetList
    output_tokens = 800


@dataclass(frozen=True)
class NuggetImportance(Question[NuggetImportances]):
    """Vital (a good answer must hold it) or okay (worthwhile, not essential), for each nugget."""

    query: str
    nuggets: tuple[str, ...]

    kind = "nugget_importance"
    version = 2
    reply = NuggetImportances
    form = ImportanceForm
    output_tokens = 350

    def read(self, form: ImportanceForm) -> NuggetImportances:
        """The labels in the order of the nuggets."""
        entries = in_order(form.verdicts, self.nuggets)
        return NuggetImportances(labels=tuple(entry.label for entry in entries))

    def bounded_schema(self) -> dict[str, Any]:
        """No number beyond the last nugget."""
        return bounded(self.schema(), self.nuggets)

    def check(self, reply: NuggetImportances) -> NuggetImportances:
        """As many labels as nuggets."""
        as_many(reply.labels, self.nuggets)
        return reply


@dataclass(frozen=True)
class AssignNuggets(Question[NuggetAssignments]):
    """Does the answer hold each nugget: in full, in part, not at all?"""

    query: str
    answer: str
    nuggets: tuple[str, ...]

    kind = "assign_nuggets"
    version = 2
    reply = NuggetAssignments
    form = AssignmentForm
    output_tokens = 350

    def read(self, form: AssignmentForm) -> NuggetAssignments:
        """The labels in the order of the nuggets."""
        entries = in_order(form.verdicts, self.nuggets)
        return NuggetAssignments(labels=tuple(entry.label for entry in entries))

    def bounded_schema(self) -> dict[str, Any]:
        """No number beyond the last nugget."""
        return bounded(self.schema(), self.nuggets)

    def check(self, reply: NuggetAssignments) -> NuggetAssignments:
        """As many labels as nuggets."""
        as_many(reply.labels, self.nuggets)
        return reply


def as_many(labels: Sequence[T], items: Sequence[object]) -> None:
    """Checks that there is one label for each item.

    Args:
        labels: of the items.
        items: that they are about.

    Raises:
        ValueError: there is not.
    """
    if len(labels) != len(items):
        raise ValueError(
            f"there must be {plural(len(items), 'entry')}, one for each item, not {len(labels)}"
        )
