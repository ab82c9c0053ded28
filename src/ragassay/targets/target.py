"""The interface of targets: a request goes in, a reply or a typed failure comes out.

A target is a `Receiver` of `ragassay.transport`: limits, retries and deadlines are those of judges.
"""

from __future__ import annotations

import hashlib
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import orjson

from ragassay.base.sample import Answer, Passage, Turn
from ragassay.base.score import Reason
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.prices import Price
from ragassay.transport.secrets import NO_KEY, Secret

PASSAGES = frozenset({"passages", "contexts", "context", "documents"})
"""What systems call the passages that they answer from."""

_QUESTIONS = ("query", "question", "input", "q", "prompt", "text")
"""What systems call the query, the likeliest name first."""

_HISTORIES = ("chat_history", "history", "messages")
"""What they call the earlier turns."""

MOST_BYTES = 64 * 1024**2
"""Bytes of a reply that are read: a system that gives more does not end."""

SHOWN = 200
"""Characters of a system's own words that a message shows."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a system is asked.

    Attributes:
        id: of the query.
        query: the question.
        history: earlier turns, oldest first.
        repeat: which time the same is asked, from 0.
        metadata: of the query.
        passages: texts that the answer is to come from, in place of what the system would retrieve;
            ``None`` where it retrieves.
    """

    id: str
    query: str
    history: tuple[Turn, ...] = ()
    repeat: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    passages: tuple[str, ...] | None = None

    def body(self) -> bytes:
        """The request as JSON: the same bytes for the same request."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        values["metadata"] = dict(self.metadata)
        if self.passages is None:
            del values["passages"]
        return orjson.dumps(values, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)

    @classmethod
    def of_body(cls, body: bytes) -> Request:
        """The request that `body` wrote."""
        values = orjson.loads(body)
        values["history"] = tuple(Turn(**one) for one in values["history"])
        if "passages" in values:
            values["passages"] = tuple(values["passages"])
        return cls(**values)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation as chat APIs have it: roles ``user``, ``assistant``, ``system``. The
        passages, where there are any, stand before the query."""
        roles = {"agent": "assistant"}
        before = [
            {"role": roles.get(turn.speaker, turn.speaker), "content": turn.text}
            for turn in self.history
        ]
        words = "\n\n".join([*(self.passages or ()), self.query])
        return [*before, {"role": "user", "content": words}]

    def arguments(self, names: Collection[str], question: str, history: Any) -> dict[str, Any]:
        """What a system is called with that takes arguments by name.

        Args:
            names: of its arguments.
            question: the name of the one that is the query; see `question_among`.
            history: the earlier turns as the system takes them.
        """
        values: dict[str, Any] = {question: self.query}
        earlier = next((one for one in _HISTORIES if one in names and one != question), None)
        if earlier is not None:
            values[earlier] = history
        return values | self.passages_under(names)

    def passages_under(self, names: Collection[str]) -> dict[str, list[str]]:
        """The passages, where there are any, under each name by which a system takes them.

        Args:
            names: of its arguments.
        """
        if self.passages is None:
            return {}
        return {name: list(self.passages) for name in PASSAGES.intersection(names)}


def question_among(names: Collection[str], needed: Sequence[str]) -> str | None:
    """The name of the argument that is the query: a usual one, else the only one that is needed;
    ``None`` where neither tells.

    Args:
        names: of all arguments.
        needed: of those without a default.
    """
    usual = next((one for one in _QUESTIONS if one in names), None)
    return needed[0] if usual is None and len(needed) == 1 else usual


@dataclass(frozen=True, slots=True)
class SystemReply(Completion):
    """What a system answered.

    Attributes:
        text: JSON that it was asked for, where it gave that; ``None`` for an answer.
        answer: the answer; an empty text where the system says that it has none.
        passages: what it retrieved, best first; ``None`` where it does not say.
        latency: seconds from the request to the end of the reply.
        first_token: seconds until the first words of the answer; ``None`` where it came at once.
        cost: US dollars, where the reply gives it or the price of the model is known.
        version: of the system, as it says; may be empty.
        unread: tokens, cost and scores of passages that should be numbers and are not, by name: the
            ``place`` in the reply, and what is ``found`` there. These are not measured.
        not_read: unknown keys of what it returned, where they may hold a part of the reply.
        not_found: paths to measurements that found nothing in the reply, as messages name them, and
            where each of them is written.
    """

    answer: Answer = field(default_factory=lambda: Answer(""))
    passages: tuple[Passage, ...] | None = None
    latency: float = 0.0
    first_token: float | None = None
    cost: float | None = None
    version: str = ""
    unread: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    not_read: tuple[str, ...] = ()
    not_found: Mapping[str, str] = field(default_factory=dict)


class Stopwatch:
    """Measures one request.

    Attributes:
        first: seconds until the first words came; ``None`` while there are none.
    """

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self.first: float | None = None

    def words_came(self) -> None:
        """Notes that words of a streamed answer came."""
        if self.first is None:
            self.first = self.seconds

    @property
    def seconds(self) -> float:
        """Since the request began."""
        return time.perf_counter() - self._begun


class Target(ABC):
    """A system under test. Opened, used and closed on one event loop, by one task.

    Attributes:
        name: the system's name in the answers.
        url: what it is called in messages; never holds a secret.
        key: is blanked out in messages.
        price: of its model, where that has a list price.

    Args:
        name: the system's name.
        url: what it is called in messages.
        key: a secret that requests hold.
    """

    price: Price | None = None

    def __init__(self, name: str, url: str, key: Secret = NO_KEY) -> None:
        self.name, self.url, self.key = name, url, key

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.url

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What makes it the system that it is, beside its name, as JSON; never holds a secret."""

    @cached_property
    def fingerprint(self) -> str:
        """16 digits that differ where the name or the identity does. Answers are kept under it."""
        return _digits({**self.identity, "name": self.name})

    @property
    def nameless_fingerprint(self) -> str:
        """16 digits that differ where the identity does, whatever the name is."""
        return _digits(self.identity)

    @property
    def takes_passages(self) -> bool:
        """Whether it can answer from passages that it is given; known once it is open."""
        return False

    async def open(self) -> None:
        """Makes what the first request needs.

        Raises:
            RagassayError: the system cannot be asked at all; the message says why.
        """

    async def close(self) -> None:
        """Ends what `open` made."""

    @abstractmethod
    async def answer(self, request: Request, watch: Stopwatch) -> SystemReply:
        """Asks once.

        Args:
            request: that the system is sent.
            watch: is told when the first words come.

        Raises:
            EndpointError: there is no answer.
        """

    @contextmanager
    def naming_itself(self) -> Iterator[None]:
        """Puts what the target is called before what an `EndpointError` from within says."""
        try:
            yield
        except EndpointError as error:
            error.detail = f"{self.url}: {error.detail}"
            raise

    async def send(self, body: bytes) -> Completion:
        """Asks once, and measures how long that takes.

        Args:
            body: of a `Request`.

        Raises:
            EndpointError: there is no answer.
        """
        watch = Stopwatch()
        reply = await self.answer(Request.of_body(body), watch)
        return replace(reply, latency=watch.seconds, first_token=watch.first)


class RefusedAddressError(EndpointError):
    """The system refuses a request for its address or its key, which other requests share."""


class RefusedKeyError(RefusedAddressError):
    """The system takes the key for none of its own (status 401): it may have expired."""


class CutReplyError(EndpointError):
    """A reply broke off before its end: the system runs.

    Args:
        detail: a sentence.
    """

    def __init__(self, detail: str) -> None:
        super().__init__(Reason.CONNECTION, detail, again=True)


def _digits(values: Mapping[str, Any]) -> str:
    body = orjson.dumps(values, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.sha256(body).hexdigest()[:16]


def foreign(detail: str) -> EndpointError:
    """The failure of a reply that holds no answer where one was agreed on.

    Args:
        detail: a sentence: what came, and what to do.
    """
    return EndpointError(Reason.UNPARSABLE, detail)


def without_secrets(url: str) -> str:
    """A URL without its user, password and query, as messages show it."""
    return re.sub(r"(?<=://)[^/]*@", "", url.partition("?")[0])


def refuse_endless(size: int, where: str = "it") -> None:
    """Refuses a reply that goes on and on, before it fills the memory.

    Args:
        size: bytes or characters so far.
        where: whose it is.

    Raises:
        EndpointError: there are more than `MOST_BYTES`.
    """
    if size > MOST_BYTES:
        raise foreign(f"{where} gave more than {MOST_BYTES >> 20} MB, and no end was in sight")


def shown(text: str) -> str:
    """The beginning of a text on one line, as messages show it."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
