"""The interface of protocols: make a request's body, and send it once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ragassay.base.score import Reason
from ragassay.transport.secrets import Secret

if TYPE_CHECKING:
    from ragassay.transport.providers import Provider

Mode = Literal["json_schema", "json_object", "text"]
"""How the form of the answer is asked for: structured output, JSON mode, in words only."""

SYSTEM = "system"  # the role of the rules; some models take them in the user's message only

Finish = Literal["stop", "length", "filtered"]
"""Why a reply ended: it was done, it ran into a limit, the endpoint's filter took it away."""

SAMPLING = (
    "temperature",
    "top_p",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "max_tokens",
)
"""The sampling parameters that are known by these names everywhere here; others go as they are."""


CONNECT_S = 10.0  # seconds until a connection must stand
TIMEOUT_S = 120.0  # seconds that a request may take
Message = Mapping[str, str]  # ``{"role": "system" | "user" | "assistant", "content": ...}``


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request, independent of a protocol.

    Attributes:
        model: the model's name.
        messages: roles ``system``, ``user``, ``assistant``.
        parameters: sampling parameters under OpenAI's names.
        mode: how the form of the answer is asked for.
        name: of the schema.
        schema: JSON schema of the answer, every object closed and every key required.
        data: what the messages were made of, for receivers that are no models.
    """

    model: str
    messages: Sequence[Message]
    parameters: Mapping[str, Any]
    mode: Mode
    name: str
    schema: Mapping[str, Any]
    data: Mapping[str, Any] = field(default_factory=dict)

    def rules_and_turns(self) -> tuple[str, list[Message]]:
        """The rules as one text, empty where there are none; and the other messages."""
        rules = [one["content"] for one in self.messages if one["role"] == SYSTEM]
        return "\n\n".join(rules), [one for one in self.messages if one["role"] != SYSTEM]


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint answered.

    Attributes:
        text: the reply; ``None`` where there is none.
        finish: why it ended.
        refusal: what the endpoint itself marked as a refusal.
        model: who answered, as the endpoint says; may be empty.
        input_tokens, output_tokens: as the endpoint counted them.
        counted: whether it counted.
    """

    text: str | None
    finish: Finish = "stop"
    refusal: str | None = None
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = False


MOST_TOKENS = 2**53
"""More than any endpoint can have counted: what every reader of JSON and SQLite can hold."""


def counted(*values: object) -> int | None:
    """A number of tokens as an endpoint counted it, from 0 to `MOST_TOKENS`: the sum of the values
    that are such numbers (not missing, negative, a text); ``None`` where none is."""
    numbers = [
        value
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    ]
    return int(min(sum(numbers), MOST_TOKENS)) if numbers else None


def completed(
    text: str | None,
    finish: Finish | None,
    model: object,
    usage: Mapping[str, Any],
    read: Sequence[str],
    written: Sequence[str],
    *,
    refusal: Any = None,
) -> Completion:
    """A reply with the tokens that its endpoint counted: those read and those written, by the names
    that they have in its ``usage``."""
    inputs = counted(*map(usage.get, read))
    outputs = counted(*map(usage.get, written))
    # No prompt has nothing in it: some proxies send zeros.
    is_counted = bool(inputs) and outputs is not None
    name = str(model or "")
    return Completion(
        text, finish or "stop", refusal or None, name, inputs or 0, outputs or 0, is_counted
    )


@dataclass(eq=False)
class EndpointError(Exception):
    """A request without a reply.

    Attributes:
        reason: the typed reason.
        detail: one sentence, without secrets.
        again: whether the same request may succeed a little later.
        overloaded: whether the endpoint says that it is asked too much.
        retry_after: seconds that the endpoint asks to wait.
        rejected: what of the request the endpoint does not take: names of parameters, or a mode.
        free: whether it cost nothing for sure: the endpoint was not reached, or answered with an
            error. Where nobody knows (it ran out of time, the connection broke) a budget counts it.
        sent: whether the request may have reached the endpoint.
    """

    reason: Reason
    detail: str
    again: bool = False
    overloaded: bool = False
    retry_after: float | None = None
    rejected: frozenset[str] = field(default=frozenset())
    free: bool = False
    sent: bool = True

    def __str__(self) -> str:
        return self.detail


class Stopped(EndpointError):  # noqa: N818 - it is a decision
    """Nothing more is sent in this run; the detail says why."""


class Endpoint(ABC):
    """One server and its protocol. Opened and closed on the event loop that uses it.

    Attributes:
        url: what identifies it in ledgers; never holds a secret.
        alias: what errors call it in place of the URL, where it has a name.
        key: goes into headers only.
        timeout: seconds after which an unanswered request is given up, for clients that want to
            know; the caller has the deadline.
    """

    protocol: ClassVar[str]
    """Enters the identity of requests."""

    never: ClassVar[frozenset[str]] = frozenset()
    """Parameters and modes that the protocol does not have."""

    role: ClassVar[str] = "judge"
    """What it is for, as the user calls it."""

    alias: str = ""

    def __init__(self, url: str, key: Secret, *, timeout: float = TIMEOUT_S) -> None:
        self.url, self.key, self.timeout = url, key, timeout

    @property
    def shown(self) -> str:
        """What errors call it."""
        return self.alias or self.url

    @abstractmethod
    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request's body, the same for the same prompt. Includes the model's name."""

    async def open(self) -> None:
        """Loads and makes what the first request needs; done by `send` where it was not."""

    @abstractmethod
    async def send(self, body: bytes) -> Completion:
        """Sends a body (the JSON of what `body` gave) once; an `EndpointError` where there is no
        reply."""

    async def close(self) -> None:
        """Ends the connections, if there are any. The endpoint may be used again."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


@dataclass(frozen=True, slots=True)
class ApiProtocol:
    """A protocol: how requests to a kind of endpoint are made, and who speaks it.

    Attributes:
        name: in signatures and addresses.
        endpoint: makes the endpoint of a base URL and a key; ``timeout`` is in seconds.
        check: raises `UsageError` where a package that it needs is not installed.
        providers: who speaks it, by the name before the model (``anthropic:MODEL``).
        aliases: other names of these providers.
        embeddings: what follows a provider's URL where it offers embeddings in OpenAI's protocol;
            ``None`` where it offers none.
    """

    name: str
    endpoint: Callable[..., Endpoint]
    check: Callable[[], None]
    providers: Mapping[str, Provider]
    aliases: Mapping[str, str] = field(default_factory=dict)
    embeddings: str | None = None
