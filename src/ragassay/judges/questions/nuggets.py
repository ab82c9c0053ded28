"""AutoNuggetizer's three questions: which facts, how important, which of them the answer holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from typing_extensions import override

from ragassay.judges.question import Question
from ragassay.judges.questions.numbered_items import ItemsQuestion
from ragassay.judges.reply import WORD, Reply

Importance = Literal["vital", "okay"]
Assignment = Literal["support", "partial_support", "not_support"]


class NuggetList(Reply):
    """Atomic facts, each a few words."""

    nuggets: tuple[str, ...]


class NuggetImportances(Reply):
    """One label for each nugget asked about, in the same order."""

    labels: tuple[Annotated[Importance, WORD], ...]


class NuggetAssignments(Reply):
    """One label for each nugget asked about, in the same order."""

    labels: tuple[Annotated[Assignment, WORD], ...]


@dataclass(frozen=True)
class ExtractNuggets(Question[NuggetList]):
    """The atomic facts in the passages that answer the query, beside those already ``known``.

    The answer holds only new ones; an empty list says that nothing new is there.
    ``most`` and ``words`` are the largest number of nuggets altogether and of words in one. Where
    ``refined``, the answer holds the whole list, with the known ones as they are now worded.
    """

    query: str
    passages: tuple[str, ...]
    known: tuple[str, ...] = ()
    most: int = 30
    words: int = 12
    refined: bool = False

    kind = "extract_nuggets"
    reply = NuggetList
    output_tokens = 800
    unsent = frozenset({"refined"})  # it chooses the template

    @override
    def template(self, model: str) -> str:
        return "extract_nuggets_refined" if self.refined else self.kind


@dataclass(frozen=True)
class NuggetImportance(ItemsQuestion[NuggetImportances]):
    """Vital (a good answer must hold it) or okay (worthwhile, not essential), for each nugget."""

    query: str
    nuggets: tuple[str, ...]

    kind = "nugget_importance"
    version = 2
    items = "nuggets"
    reply = NuggetImportances
    entry = "How important one nugget is."
    output_tokens = 350


@dataclass(frozen=True)
class AssignNuggets(ItemsQuestion[NuggetAssignments]):
    """Does the answer hold each nugget: in full, in part, not at all?"""

    query: str
    answer: str
    nuggets: tuple[str, ...]

    kind = "assign_nuggets"
    version = 2
    items = "nuggets"
    reply = NuggetAssignments
    entry = "Whether the answer holds one nugget."
    output_tokens = 350
