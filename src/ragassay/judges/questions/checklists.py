"""Questions about the items of a list: claims and nuggets, how they are found and checked.

A list of bare labels shifts when a model leaves one out. So each entry repeats the item's number,
and a reply with a missing, doubled or foreign number is repaired. A short reason comes before the
value: it is found before the value is given, not after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast, get_args

from pydantic import create_model
from typing_extensions import override

from ragassay.base.printable import plural
from ragassay.judges.question import WORD, Question, R_co, Reply, end_of, schema_of, whole_number


class ItemReply(Reply):
    """What is said of one item: its number in the list, from 1, and why."""

    number: Annotated[int, *whole_number(1, 1_000_000)]
    reason: str = ""


E = TypeVar("E", bound=ItemReply)


def in_order(entries: Sequence[E], items: Sequence[object]) -> list[E]:
    """The entries in the order of the items, one for each, or a `ValueError`."""
    n = len(items)
    counts = Counter(entry.number for entry in entries)
    foreign = [number for number in counts if number > n]
    twice = [number for number, count in counts.items() if count > 1]
    missing = [number for number in range(1, n + 1) if number not in counts]
    for numbers, problem in (
        (foreign, f"is no item: the list has {n}"),
        (twice, "has several entries"),
        (missing, "has no entry"),
    ):
        if numbers:
            raise ValueError(f"verdicts: number {min(numbers)} {problem}")
    return sorted(entries, key=lambda entry: entry.number)


class ItemsQuestion(Question[R_co]):
    """Base of questions that have a value for each item of a list.

    The reply has one field, with one value for each item in their order. The form is made of it: it
    has the field ``verdicts``, with an entry for each item, whose last field is that value.

    Class attributes:
        items: name of the field that holds the items.
        entry: what an entry says; judges read it.
    """

    items: ClassVar[str]
    entry: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        ((name, field),) = cls.reply.model_fields.items()
        value: Any = (get_args(field.annotation)[0], ...)
        entry: Any = create_model(
            f"{cls.__name__}Entry",
            __base__=ItemReply,
            __doc__=cls.entry,
            **{name.removesuffix("s"): value},
        )
        about = f"An entry for each {cls.items.removesuffix('s')}."
        verdicts: Any = (tuple[entry, ...], ...)
        form = f"{cls.__name__}Form"
        cls.form = create_model(form, __base__=Reply, __doc__=about, verdicts=verdicts)

    @override
    def stand_in(self, *, largest: bool) -> Reply:
        (field,) = self.reply.model_fields
        value = end_of(schema_of(self.reply)["properties"][field]["items"], largest)
        return self.reply(**{field: (value,) * len(getattr(self, self.items))})

    @override
    def read(self, form: Any) -> Reply:
        entries = in_order(form.verdicts, getattr(self, self.items))
        (field,) = self.reply.model_fields
        values = tuple(getattr(entry, list(type(entry).model_fields)[-1]) for entry in entries)
        return self.reply(**{field: values})

    @override
    def bounded_schema(self) -> dict[str, Any]:
        schema = deepcopy(self.schema())
        number = schema["properties"]["verdicts"]["items"]["properties"]["number"]
        number["maximum"] = len(getattr(self, self.items))
        return schema

    @override
    def check(self, reply: Any) -> R_co:
        (field,) = self.reply.model_fields
        n, count = len(getattr(self, self.items)), len(getattr(reply, field))
        if count != n:
            raise ValueError(f"there must be {plural(n, 'entry')}, one for each item, not {count}")
        return cast(R_co, reply)


SupportLevel = Literal["full", "partial", "none"]


class Support(Reply):
    """Full: all information of the statement is in the passage; partial: some; none: none."""

    support: Annotated[SupportLevel, WORD]


@dataclass(frozen=True)
class CitationSupport(Question[Support]):
    """Does the cited passage support the statement (TREC RAG support evaluation)?"""

    statement: str
    passage: str

    kind = "citation_support"
    reply = Support
    output_tokens = 20


class Claims(Reply):
    """Self-contained factual claims; none where the answer claims nothing."""

    claims: tuple[str, ...]


@dataclass(frozen=True)
class ExtractClaims(Question[Claims]):
    """The factual claims of an answer, each understandable on its own (RAGAS, first step).

    ``conversation`` is the query with its earlier turns, as lines ``speaker: text``.
    """

    conversation: str
    answer: str

    kind = "extract_claims"
    reply = Claims
    output_tokens = 600

    @override
    def stand_in(self, *, largest: bool) -> Claims:
        # Claims say about as much as the answer, with what makes them clear on their own.
        return Claims(claims=(self.conversation, self.answer) if largest else ())


class ClaimsSupported(Reply):
    """For each claim, in order: do the passages support it?"""

    supported: tuple[bool, ...]


@dataclass(frozen=True)
class ClaimSupport(ItemsQuestion[ClaimsSupported]):
    """Which claims can be inferred from the passages (RAGAS, second step)?"""

    claims: tuple[str, ...]
    passages: tuple[str, ...]

    kind = "claim_support"
    version = 2
    items = "claims"
    reply = ClaimsSupported
    entry = "Whether the passages support one claim."
    output_tokens = 350


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
    later = frozenset({"refined"})
    expected = 0

    def expecting(self, n: int) -> ExtractNuggets:
        """The same question, with the number of new nuggets after which most is asked."""
        question = copy(self)
        object.__setattr__(question, "expected", n)
        return question

    @override
    def stand_in(self, *, largest: bool) -> NuggetList:
        name = self.key[:16]  # other passages have other nuggets
        n = self.expected + len(self.known) * self.refined
        return NuggetList(nuggets=tuple(f"fact {at} of {name}" for at in range(n * largest)))

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
