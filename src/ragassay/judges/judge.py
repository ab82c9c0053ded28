"""A judge: whatever answers Questions; and what comes back from it, a `JudgeAnswer` or a `Failure`
(as a record a line of ``judge_answers.jsonl``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic

from ragassay.base.score import Reason
from ragassay.judges.question import Question, R_co
from ragassay.transport.endpoints.endpoint import Message
from ragassay.transport.providers_and_prices import Price


class Judge(ABC):
    """Base of all judges. Opened and closed on the event loop that asks it.

    Attributes:
        price: of its model, for plans; ``None`` where no price is known.
        model: the model's name, by which a question may choose its shape; empty where there is
            none.
        prompts: of the user's own, by kind of question, in place of the package's.
        width: about how many questions it takes at once.
        remembered: whether a window asks each question once; not where answering takes no time.
    """

    price: Price | None = None
    model: str = ""
    prompts: Mapping[str, str] = {}
    width: int = 64
    remembered: bool = True

    def prompt_hash(self, question: Question[Any]) -> str:
        """The hash of the prompt by which it is asked a question."""
        return question.prompt_hash(self.model, self.prompts.get(question.kind, ""))

    @property
    @abstractmethod
    def label(self) -> str:
        """The name in outputs: ``openai:gpt-4o``, ``offline-lexical/1``; without secrets."""

    @property
    def signature(self) -> str:
        """What two answers must share to be comparable: label, parameters, dropped parameters."""
        return self.label

    def without(self, names: Iterable[str]) -> tuple[str, ...]:
        """Which of these sampling parameters its endpoint does not take."""
        return ()

    def leaves(self) -> tuple[Judge, ...]:
        """The judges that send requests, for plans: itself; a panel's members; none, where
        answering takes no request (rules, recorded answers)."""
        return (self,)

    def requests(self, question: Question[Any], repeat: int = 0) -> tuple[tuple[Judge, int], ...]:
        """The leaves that a question is sent to, whether or not they know the answer, each with the
        repeat that it is asked with; for plans."""
        return tuple((leaf, repeat) for leaf in self.leaves())

    @abstractmethod
    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        """The answer on a question. Errors of the judge are returned as a `Failure`, never raised.
        ``repeat`` is which of several independent askings of the same question this is."""

    async def open(self) -> None:
        """Called once, before the first question."""

    async def drain(self) -> None:
        """After an interrupt: sends nothing new and lets what is in flight end (it is paid)."""

    async def close(self) -> None:
        """Called once, after the last question."""

    def remarks(self) -> tuple[str, ...]:
        """After a run: sentences about what a reader of the scores should know."""
        return ()

    def known(self, question: Question[Any], repeat: int = 0) -> JudgeAnswer[Any] | Failure | None:
        """The answer or failure that takes no request (it is in a ledger, it costs nothing), for
        plans; ``None`` where the question would have to be sent. Arguments as of `answer`."""
        return None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an answer comes from.

    Attributes:
        judge: label of the judge that was asked (``openai:gpt-4o``, ``offline-lexical/1``).
        model: what the endpoint says answered.
        prompt_hash: of template and answer schema.
        request: the ledger's key for the whole request; empty where there is no ledger.
        messages: what was sent (of an LLM).
        reply: the raw text that came back.
        input_tokens, output_tokens: as counted by the endpoint, repair turn included.
        cost: in US dollars; ``None`` where no price is known.
        latency: seconds from sending to the last byte, waiting for a free slot not included.
        attempts: requests that it took (retries and repair).
        cached: whether it came from the ledger and cost nothing now.
        dropped: parameters that the endpoint rejected.
    """

    judge: str
    model: str = ""
    prompt_hash: str = ""
    request: str = ""
    messages: Sequence[Message] = ()
    reply: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    latency: float = 0.0
    attempts: int = 1
    cached: bool = False
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeAnswer(Generic[R_co]):
    """An answer, valid for its question: typed, with where it comes from, which of several askings
    of the question this is (``repeat``), and what the members of a panel said (``votes``)."""

    question: Question[R_co]
    answer: R_co
    provenance: Provenance
    repeat: int = 0
    votes: tuple[JudgeAnswer[Any] | Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and why; ``stopped``: the judge sends nothing more in this run, as ``detail``
    says."""

    question: Question[Any]
    reason: Reason
    detail: str
    provenance: Provenance = field(default_factory=lambda: Provenance(""))
    repeat: int = 0
    votes: tuple[JudgeAnswer[Any] | Failure, ...] = ()
    stopped: bool = False


ABOUT = 80  # characters that tell one question of a sample from another

_SHARED = {
    *("query", "answer", "conversation", "history", "reference", "references", "wrong"),
    *("instructions", "criteria", "shots", "earlier"),
}
"""Fields that are the same in all questions of a kind about one sample."""


def evidence_id(question: Question[Any], repeat: int) -> str:
    """The id of the answer on a question: its key, and the repeat where it is not the first."""
    return f"{question.key}.{repeat}" if repeat else question.key


def to_record(asked: JudgeAnswer[Any] | Failure, *, is_vote: bool = False) -> dict[str, Any]:
    """The whole evidence as plain values. ``id`` is what a score's ``evidence`` names, ``key``
    identifies the question; ``about`` says in short which of a sample's questions it is: by field
    the first words of what not all of them share (the passage, the statement), and how many texts a
    list has."""
    question, made = asked.question, asked.provenance
    record: dict[str, Any] = {
        "id": evidence_id(question, asked.repeat),
        "question": question.kind,
        "version": question.version,
        "key": question.key,
        "repeat": asked.repeat,
    }
    if isinstance(asked, Failure):
        record |= {"answer": None, "reason": str(asked.reason), "detail": asked.detail}
    else:
        record["answer"] = asked.answer.model_dump(mode="json")
    record["judge"] = made.judge
    if made.messages or made.request or made.model:
        record |= {field.name: getattr(made, field.name) for field in fields(made)}
        record |= {
            "messages": [dict(message) for message in made.messages],
            "dropped": list(made.dropped),
        }
    if asked.votes:
        record["votes"] = [to_record(vote, is_vote=True) for vote in asked.votes]
    if is_vote:
        return record
    about = {}
    for name, value in question.data.items():
        if name in _SHARED or not value:
            continue
        if isinstance(value, str):
            about[name] = short(value)
        elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            about[f"{name} ({len(value)})"] = short(" | ".join(short(item) for item in value[:9]))
    if about:
        record["about"] = about
    return record


def short(text: str) -> str:
    """The first `ABOUT` characters of a text, on one line."""
    line = " ".join(text[: 4 * ABOUT].split())
    return line if len(line) <= ABOUT else f"{line[:ABOUT].rstrip()} …"


def provenance_of(record: Mapping[str, Any]) -> Provenance:
    """The origin that a record states, as far as it does."""
    texts = ("judge", "model", "prompt_hash", "request", "reply")
    values: dict[str, Any] = {name: str(record.get(name) or "") for name in texts}
    for name in ("input_tokens", "output_tokens", "attempts"):
        values[name] = int(record.get(name) or 0)
    return Provenance(
        **values,
        messages=list(record.get("messages") or ()),
        cost=record.get("cost"),
        latency=float(record.get("latency") or 0.0),
        cached=bool(record.get("cached")),
        dropped=tuple(record.get("dropped") or ()),
    )
