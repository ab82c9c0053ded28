"""What is evaluated: plain immutable values. What was not given is ``None``; what was given and is
empty is ``""`` or ``()``, for a system that retrieved nothing is not one whose retrieval was not
recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeVar

from ragassay.base.errors import InputError, did_you_mean

T = TypeVar("T")


class Answerability(StrEnum):
    """Whether the collection holds an answer to the query (MT-RAG's labels, in lower case)."""

    ANSWERABLE = "answerable"
    PARTIAL = "partial"
    UNANSWERABLE = "unanswerable"
    CONVERSATIONAL = "conversational"
    UNDERSPECIFIED = "underspecified"


ABSTAINING = (Answerability.UNANSWERABLE, Answerability.CONVERSATIONAL)
"""Labels of queries for which a system may retrieve, claim and answer nothing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier utterance of a conversation. ``speaker`` is ``user`` or ``agent``."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk.

    Passages are in the order in which the system ranked them. ``score`` is the system's own
    (finite; higher is better). ``document``, ``start`` and ``end`` say where the text
    came from: characters ``[start, end)`` of that document. ``names`` are its title and address,
    by which an answer may cite it.

    Raises:
        InputError: a score that is not finite, or an impossible span.
    """

    text: str | None = None
    id: str | None = None
    score: float | None = None
    document: str | None = None
    start: int | None = None
    end: int | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.names != ():
            object.__setattr__(self, "names", _tuple_of(self.names, str, "passages.names"))
        if self.score is not None and not math.isfinite(self.score):
            hint = "Scores must be finite numbers; leave the score out if there is none."
            problem = f"a passage has the score {self.score}"
            raise InputError(problem, field="passages.score", hint=hint)
        if self.start is not None or self.end is not None:
            _check_span(self.start, self.end, "passages")


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A passage that a person (or a judge) graded, named by id, by text or by span.

    ``grade`` 0 means judged and not relevant; 1 and above relevant; below 0 unjudged (trec_eval).

    Raises:
        InputError: neither id, text nor document is given, or the span is impossible.
    """

    id: str | None = None
    text: str | None = None
    document: str | None = None
    start: int | None = None
    end: int | None = None
    grade: int = 1

    def __post_init__(self) -> None:
        if self.id is None and self.text is None and self.document is None:
            hint = "Give 'id', 'text', or 'document' with 'start' and 'end'."
            problem = "a gold passage has neither an id, a text nor a document"
            raise InputError(problem, field="gold", hint=hint)
        if self.start is not None or self.end is not None:
            _check_span(self.start, self.end, "gold")


@dataclass(frozen=True, slots=True)
class Statement:
    """A part of an answer with the ids of the passages that it cites."""

    text: str
    citations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.citations != ():
            citations = _tuple_of(self.citations, str, "answer.statements.citations")
            object.__setattr__(self, "citations", citations)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the system said. ``statements`` is empty when the answer came as plain text only."""

    text: str
    statements: tuple[Statement, ...] = ()

    def __post_init__(self) -> None:
        if self.statements != ():
            statements = _tuple_of(self.statements, Statement, "answer.statements")
            object.__setattr__(self, "statements", statements)


Identity = tuple[str, str, int]
"""Query id, system and repeat: together they name a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One thing to evaluate: what a system did with one query, and what is known about the query.

    Examples:
        >>> from ragassay import Passage, Sample
        >>> sample = Sample(
        ...     id="1",
        ...     query="Who wrote Dune?",
        ...     passages=[Passage("Dune is a novel by Frank Herbert.", id="d1")],
        ...     answer="Frank Herbert.",
        ...     references=["Frank Herbert"],
        ... )
        >>> sample.answer.text, sample.references, sample.gold
        ('Frank Herbert.', ('Frank Herbert',), None)

    Lists become tuples, and the texts of labels become labels.

    Attributes:
        id: the query's id. The same query asked of two systems has the same id.
        query: the question (the last user turn of a conversation).
        system: which system answered; empty when there is only one.
        repeat: 0, 1, 2 ... where the same query was run several times.
        history: earlier turns, oldest first.
        passages: what was retrieved, best first. ``None``: not recorded; ``()``: nothing found.
        passages_prescribed: whether the data set gave the system these passages. Then missing
            passages are not the system's fault.
        answer: what the system said (also a plain text). ``None``: not recorded, or the
            system failed (see ``failure``).
        references: accepted answers, any of which is right.
        reference_groups: set when the references came as a list of lists: each group holds the
            spellings of one required item; ``references`` is then all of them, flat (taken from
            the groups where it is left out).
        negative_references: answers known to be wrong.
        gold: graded passages. ``None``: the query was never judged; ``()``: judged, none relevant.
        answerability: the query's label, where there is one.
        timestamp: seconds since 1970 (UTC).
        language: of query and answer, code (``de``) or name. ``None``: detected from the words.
        failure: why the system gave no answer (for example ``API_ERROR``), where it says so.
        metadata: anything else; its scalar values can be used as slices of a report.
        given: metric values that came with the record, by their published names (``BertscoreR``).
        given_by: who gave them, by the same names: a judge's label (``offline-lexical/1``).
        given_unscored: why a value is null there, by the same names: ``nothing_claimed: the
            answer makes no claim``.
        runs: if the sample joins several runs of its query by one system: those runs, in
            order of ``repeat``, which the consistency metrics score.

    Raises:
        InputError: an empty id, a negative repeat, a timestamp that is not finite, an unknown
            label, or a part of the wrong type.
    """

    id: str
    query: str | None = None
    system: str = ""
    repeat: int = 0
    history: tuple[Turn, ...] = ()
    passages: tuple[Passage, ...] | None = None
    passages_prescribed: bool = False
    answer: Answer | None = None
    references: tuple[str, ...] = ()
    reference_groups: tuple[tuple[str, ...], ...] = ()
    negative_references: tuple[str, ...] = ()
    gold: tuple[GoldPassage, ...] | None = None
    answerability: Answerability | None = None
    timestamp: float | None = None
    language: str | None = None
    failure: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    given_by: Mapping[str, str] = field(default_factory=dict)
    given_unscored: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[Sample, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:
            raise InputError("the sample has no id", field="id", hint="Ids are non-empty strings.")
        if self.repeat < 0:
            hint = "Repeats count from 0."
            raise InputError(f"repeat is {self.repeat}", field="repeat", hint=hint)
        if self.timestamp is not None and not math.isfinite(self.timestamp):
            raise InputError(f"the timestamp is {self.timestamp}", field="timestamp")
        for name in ("query", "language", "failure"):
            if not isinstance(text := getattr(self, name), str | None):
                raise _wrong_type(f"the {name}", text, str, name)
        for name, kind in _LISTS:
            value = getattr(self, name)
            if value is None:
                if name not in _OPTIONAL:
                    object.__setattr__(self, name, ())
            elif type(value) is not tuple or (value and not {kind}.issuperset(map(type, value))):
                object.__setattr__(self, name, _tuple_of(value, kind, name))
        if self.reference_groups != ():
            self._take_groups()
        answer: object = self.answer
        if type(answer) is str:
            object.__setattr__(self, "answer", Answer(answer))
        elif answer is not None and not isinstance(answer, Answer):
            raise _wrong_type("the answer", answer, Answer, "answer")
        if self.answerability is not None and type(self.answerability) is not Answerability:
            object.__setattr__(self, "answerability", _label(self.answerability))

    def _take_groups(self) -> None:
        name = "reference_groups"
        given = _tuple_of(self.reference_groups or (), object, name)
        groups = tuple(_tuple_of(group, str, name) for group in given)
        object.__setattr__(self, name, groups)
        if not self.references:
            flat = tuple(spelling for group in groups for spelling in group)
            object.__setattr__(self, "references", flat)

    @property
    def identity(self) -> Identity:
        """Query id, system and repeat."""
        return (self.id, self.system, self.repeat)

    @property
    def query_text(self) -> str:
        """The query; empty where there is none."""
        return self.query or ""

    @property
    def earlier_queries(self) -> tuple[str, ...]:
        """What the user said in the turns before the query, oldest first."""
        return tuple(turn.text for turn in self.history if turn.speaker == "user")

    @property
    def answer_text(self) -> str:
        """The text of the answer; empty where there is none."""
        return "" if self.answer is None else self.answer.text


_LISTS: Final[tuple[tuple[str, type[Any]], ...]] = (
    ("history", Turn),
    ("passages", Passage),
    ("references", str),
    ("negative_references", str),
    ("gold", GoldPassage),
    ("runs", Sample),
)
_OPTIONAL: Final = ("passages", "gold")


def _tuple_of(values: object, kind: type[T], field_name: str) -> tuple[T, ...]:
    """The values as a tuple. A lone text is one text: each of its characters would pass too."""
    if kind is str and isinstance(values, kind):
        return (values,)
    if not isinstance(values, list | tuple):
        raise InputError(f"a list is expected, not {type(values).__name__}", field=field_name)
    for item in values:
        if not isinstance(item, kind):
            raise _wrong_type("an item", item, kind, field_name)
    return tuple(values)


def _wrong_type(what: str, value: object, kind: type[Any], field_name: str) -> InputError:
    hint = f"Give {kind.__name__} objects, or let ragassay.load read the record."
    problem = f"{what} is of the type {type(value).__name__}, not {kind.__name__}"
    return InputError(problem, field=field_name, hint="Give texts." if kind is str else hint)


def _label(value: object) -> Answerability:
    try:
        return Answerability(str(value).casefold())
    except ValueError:
        near = did_you_mean(str(value), map(str, Answerability))
        hint = f"{near} There are {', '.join(label.upper() for label in Answerability)}."
        raise InputError(f"{value!r} is not a label", field="answerability", hint=hint) from None


def _check_span(start: int | None, end: int | None, field_name: str) -> None:
    if start is not None and start < 0:
        raise InputError(f"a span starts at {start}", field=f"{field_name}.start")
    if end is not None and end < (start or 0):
        problem = f"a span ends at {end}, before its start {start or 0}"
        hint = "Spans are [start, end) in characters."
        raise InputError(problem, field=f"{field_name}.end", hint=hint)
