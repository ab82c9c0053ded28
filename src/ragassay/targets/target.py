"""The interface of targets: a request goes in, a reply or a typed failure comes out."""

from __future__ import annotations

import hashlib
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import orjson

from ragassay.base.sample import Turn
from ragassay.base.score import Reason
from ragassay.targets.reply_shapes import SystemReply, foreign, reply_of
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.providers_and_prices import Price
from ragassay.transport.secrets import NO_KEY, Secret

PASSAGES = frozenset({"passages", "contexts", "context", "documents"})
"""What systems call the passages that they answer from."""

_QUESTIONS = ("query", "question", "input", "q", "prompt", "text")
"""What systems call the query, the likeliest name first."""

_HISTORIES = ("chat_history", "history", "messages")
"""What they call the earlier turns."""

MOST_BYTES = 64 * 1024**2
"""Bytes of a reply that are read: a system that gives more does not end."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a system is asked. ``passages`` are texts that the answer is to come from, in place of
    what the system would retrieve; ``None`` where it retrieves."""

    id: str
    query: str
    history: tuple[Turn, ...] = ()
    repeat: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    passages: tuple[str, ...] | None = None

    def body(self) -> bytes:
        """The request as JSON: the same bytes for the same request."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["metadata"] = dict(self.metadata)
        if self.passages is None:
            del values["passages"]
        return orjson.dumps(values, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)

    @classmethod
    def of_body(cls, body: bytes) -> Request:
        """The request that `body` wrote."""
        values = orjson.loads(body)
        values["history"] = tuple(Turn(**value) for value in values["history"])
        if "passages" in values:
            values["passages"] = tuple(values["passages"])
        return cls(**values)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation as chat APIs have it, the passages before the query."""
        roles = {"agent": "assistant"}
        before = [
            {"role": roles.get(turn.speaker, turn.speaker), "content": turn.text}
            for turn in self.history
        ]
        words = "\n\n".join([*(self.passages or ()), self.query])
        return [*before, {"role": "user", "content": words}]

    def arguments(self, names: Collection[str], question: str, history: Any) -> dict[str, Any]:
        """What a system is called with that takes arguments by name: the query under the name that
        is the ``question``, the ``history`` and the passages under those that they have."""
        values: dict[str, Any] = {question: self.query}
        for earlier in [text for text in _HISTORIES if text in names and text != question][:1]:
            values[earlier] = history
        return values | self.passages_under(names)

    def passages_under(self, names: Collection[str]) -> dict[str, list[str]]:
        """The passages, where there are any, under each name by which a system takes them."""
        if self.passages is None:
            return {}
        return {name: list(self.passages) for name in PASSAGES.intersection(names)}


def question_among(names: Collection[str], needed: Sequence[str]) -> str | None:
    """The argument that is the query: a usual name, or the only one needed; else ``None``."""
    usual = next((question for question in _QUESTIONS if question in names), None)
    return needed[0] if usual is None and len(needed) == 1 else usual


class Stopwatch:
    """Measures one request; ``first`` is the seconds until the first words came."""

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
    """A system under test. Opened, used and closed on one event loop, by one task. ``url`` is what
    messages call it; none holds the ``key`` or one of the ``secrets``."""

    price: Price | None = None
    secrets: Sequence[Secret] = ()

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
        options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
        body = orjson.dumps({**self.identity, "name": self.name}, option=options)
        return hashlib.sha256(body).hexdigest()[:16]

    @property
    def takes_passages(self) -> bool:
        """Whether it can answer from passages that it is given; known once it is open."""
        return False

    async def open(self) -> None:
        """Makes what the first request needs, or raises a `RagassayError` that says why not."""

    async def close(self) -> None:
        """Ends what `open` made."""

    @abstractmethod
    async def call(self, request: Request, watch: Stopwatch) -> Any:
        """Asks once: a `SystemReply`, or what `reply_of` reads; an `EndpointError` where there is
        no answer. The watch learns when the first words come."""

    async def answer(self, request: Request, watch: Stopwatch) -> SystemReply:
        """Asks once, and reads the reply. A failure names the system, and holds no secret."""
        try:
            value = await self.call(request, watch)
            return value if isinstance(value, SystemReply) else reply_of(value)
        except EndpointError as error:
            if not error.detail.startswith((f"{self.url} ", f"{self.url}:")):
                error.detail = f"{self.url}: {error.detail}"
            for secret in self.secrets:
                error.detail = secret.hidden_in(error.detail)
            raise

    async def send(self, body: bytes) -> Completion:
        """Asks once with the body of a `Request`, and measures how long that takes."""
        watch = Stopwatch()
        reply = await self.answer(Request.of_body(body), watch)
        return replace(reply, latency=watch.seconds, first_token=watch.first)


class RefusedAddressError(EndpointError):
    """The system refuses a request for its address or its key, which other requests share."""


class RefusedKeyError(RefusedAddressError):
    """The system takes the key for none of its own (status 401): it may have expired."""


class CutReplyError(EndpointError):
    """A reply broke off before its end: the system runs."""

    def __init__(self, detail: str) -> None:
        super().__init__(Reason.CONNECTION, detail, again=True)


def without_secrets(url: str) -> str:
    """A URL without its user, password and query, as messages show it."""
    return re.sub(r"(?<=://)[^/]*@", "", url.partition("?")[0])


def refuse_endless(size: int, where: str = "it") -> None:
    """Refuses a reply of more than `MOST_BYTES` (so far), before it fills the memory."""
    if size > MOST_BYTES:
        raise foreign(f"{where} gave more than {MOST_BYTES >> 20} MB and did not stop")
