"""The interface of protocols: make a request's body, and send it once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ragassay.base.score import Reason
from ragassay.transport.secrets import Secret

if TYPE_CHECKING:
    from ragassay.transport.providers_and_prices import Provider

Mode = Literal["json_schema", "json_object", "text"]
"""How the form of the answer is asked for: structured output, JSON mode, in words only."""

SYSTEM = "system"  # the role of the rules; some models take them in the user's message only

Finish = Literal["stop", "length", "filtered"]
"""Why a reply ended: it was done, it ran into a limit, the endpoint's filter took it away."""

SAMPLING = (
    *("temperature", "top_p", "seed"),
    *("presence_penalty", "frequency_penalty", "max_tokens"),
)
"""The sampling parameters that are known by these names everywhere here; others go as they are."""

CONNECT_S = 10.0  # seconds until a connection must be open
TIMEOUT_S = 120.0  # seconds that a request may take
Message = Mapping[str, str]  # ``{"role": "system" | "user" | "assistant", "content": ...}``


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request, independent of a protocol: ``parameters`` under OpenAI's names; ``schema`` (called
    ``name``) of the answer, every object closed and every key required; ``data`` that the messages
    were made of, for receivers that are no models."""

    model: str
    messages: Sequence[Message]
    parameters: Mapping[str, Any]
    mode: Mode
    name: str
    schema: Mapping[str, Any]
    data: Mapping[str, Any] = field(default_factory=dict)

    def rules_and_turns(self) -> tuple[str, list[Message]]:
        """The rules as one text, empty where there are none; and the other messages."""
        rules = [message["content"] for message in self.messages if message["role"] == SYSTEM]
        return "\n\n".join(rules), [
            message for message in self.messages if message["role"] != SYSTEM
        ]


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint answered: ``text`` (``None``: no reply), what it marked itself as a
    ``refusal``, the ``model`` that it says answered, and the tokens, if it ``counted`` them."""

    text: str | None
    finish: Finish = "stop"
    refusal: str | None = None
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = False


@dataclass(eq=False)
class EndpointError(Exception):
    """A request without a reply: why (one sentence, without secrets); whether it may succeed
    ``again`` a little later, after ``retry_after`` seconds where the endpoint says so; whether that
    says that it is asked too much (``overloaded``); parameters or a mode that it ``rejected``;
    whether the request cost nothing for sure (``free``: where nobody knows, a budget counts it) and
    may have reached the endpoint (``sent``)."""

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


@dataclass(eq=False, repr=False)
class Endpoint(ABC):
    """One server and its protocol. Opened and closed on the event loop that uses it. ``url``
    identifies it in ledgers and never holds a secret (errors say ``alias``, where it has one);
    ``timeout`` (seconds) is for clients that want to know: the caller has the deadline."""

    protocol: ClassVar[str]  # enters the identity of requests
    never: ClassVar[frozenset[str]] = frozenset()  # parameters and modes that it does not have
    role: ClassVar[str] = "judge"  # what it is for, as the user calls it
    url: str
    key: Secret
    _: KW_ONLY
    timeout: float = TIMEOUT_S
    alias: str = ""

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
        """Sends a body (the JSON of what `body` gave) once; or an `EndpointError`."""

    async def close(self) -> None:
        """Ends the connections, if there are any. The endpoint may be used again."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


@dataclass(frozen=True, slots=True)
class ApiProtocol:
    """A protocol: ``endpoint`` makes the endpoint of a base URL, a key and a ``timeout`` in
    seconds, ``check`` raises a `UsageError` where a package that it needs is not installed, and
    ``providers`` speak it, by the name before the model (``aliases`` are other names of theirs).
    ``embeddings`` follows a provider's URL where it offers them in OpenAI's protocol."""

    name: str
    endpoint: Callable[..., Endpoint]
    check: Callable[[], None]
    providers: Mapping[str, Provider]
    aliases: Mapping[str, str] = field(default_factory=dict)
    embeddings: str | None = None
