"""What comes back from a judge: a `Verdict` with its provenance, or a `Failure` with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from ragassay.base.score import Reason
from ragassay.judges.question import Question
from ragassay.judges.reply import R_co
from ragassay.transport.endpoints.endpoint import Message


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
class Verdict(Generic[R_co]):
    """An answer, valid for its question.

    Attributes:
        question: what was asked.
        answer: the typed answer.
        provenance: where it comes from.
        repeat: which of several askings of the same question.
        votes: what the members of a panel said.
    """

    question: Question[R_co]
    answer: R_co
    provenance: Provenance
    repeat: int = 0
    votes: tuple[Verdict[Any] | Failure, ...] = ()

    @property
    def id(self) -> str:
        """Names the verdict in a run folder."""
        return evidence_id(self.question, self.repeat)


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and why.

    Attributes:
        stopped: whether the judge sends nothing more in this run; ``detail`` then says why.
    """

    question: Question[Any]
    reason: Reason
    detail: str
    provenance: Provenance = field(default_factory=lambda: Provenance(""))
    repeat: int = 0
    votes: tuple[Verdict[Any] | Failure, ...] = ()
    stopped: bool = False

    @property
    def id(self) -> str:
        """Names the failed verdict in a run folder."""
        return evidence_id(self.question, self.repeat)


def evidence_id(question: Question[Any], repeat: int) -> str:
    """The id of the verdict on a question: its key, and the repeat where it is not the first."""
    return f"{question.key}.{repeat}" if repeat else question.key
