"""A judge in Python: a function, a chat model of LangChain or LlamaIndex, a client of datapizza. An
object is asked by the methods that it has, and nothing of these packages is imported."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import orjson

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.transport.endpoints.endpoint import (
    SAMPLING,
    TIMEOUT_S,
    Completion,
    Endpoint,
    EndpointError,
    Message,
    Prompt,
)
from ragassay.transport.endpoints.endpoint_errors import FORMS, from_status
from ragassay.transport.endpoints.http_chats import FINISH, completed, text_of
from ragassay.transport.secrets import NO_KEY, Secret
from ragassay.user_code.object_calls import described, in_thread, is_async

_METHODS = {
    "ainvoke": "messages",
    "invoke": "messages",
    "acomplete": "text",
    "complete": "text",
    "achat": "messages",
    "chat": "messages",
    "call": "text",
}
"""Methods of chat models and (``call``) of Open RAG Eval's judges, the preferred ones first."""

_READ, _WRITTEN = ("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")

_THEIR_KEY = Secret("-", "the key that the object was made with")


class PythonChat(Endpoint):
    """A Python object that answers prompts. A function takes the prompt as one text; where its
    first parameter is called ``messages``, a list of mappings with ``role`` and ``content``. Where
    it is no coroutine function, it runs in threads."""

    protocol: ClassVar[str] = "python"
    # A function takes a prompt and nothing else.
    never: ClassVar[frozenset[str]] = frozenset({*SAMPLING, *FORMS})

    def __init__(
        self, judge: Any, name: str, version: str = "", *, timeout: float = TIMEOUT_S
    ) -> None:
        super().__init__(f"python:{name}", NO_KEY, timeout=timeout)
        self._version = version
        self._call, self._takes_text = _call_of(judge, name)
        self._name = name

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """Messages, and what identifies the object."""
        known = {"model": prompt.model, "version": self._version, "asked": prompt.name}
        return {**known, "messages": prompt.messages}

    async def send(self, body: bytes) -> Completion:
        """Calls the object."""
        request = orjson.loads(body)
        messages = request["messages"]
        argument = as_text(messages) if self._takes_text else messages
        try:
            if is_async(self._call):
                value = self._call(argument)
            else:
                value = await in_thread(lambda: self._call(argument))
            if inspect.isawaitable(value):
                value = await value
        except EndpointError:
            raise
        except (Exception, SystemExit) as error:
            raise self._raised(error, request["asked"]) from error
        return self._read(value, request["asked"])

    def _raised(self, error: BaseException, asked: str) -> EndpointError:
        """The error for an exception. Clients' exceptions carry the status of the server that they
        asked: it is read as for any endpoint, so that a rate limit is waited for."""
        status = getattr(error, "status_code", None)
        if isinstance(status, int) and 400 <= status < 600:
            headers = getattr(getattr(error, "response", None), "headers", None)
            return from_status(
                status,
                str(error).encode("utf-8", "replace"),
                headers={str(k): str(v) for k, v in dict(headers or {}).items()},
                url=self.url,
                model="",
                key=_THEIR_KEY,
                sent=(),
            )
        detail = f"{self.url} raised {described(error, place=True)} It was asked {asked}."
        if isinstance(error, TimeoutError | ConnectionError):
            reason = Reason.TIMEOUT if isinstance(error, TimeoutError) else Reason.CONNECTION
            return EndpointError(reason, detail, again=True)
        return EndpointError(Reason.JUDGE_ERROR, f"{detail} Check the code of {self._name}.")

    def _read(self, value: Any, asked: str) -> Completion:
        text = _text(value)
        if text is None:
            detail = (
                f"{self.url} returned {_kind(value)} when it was asked {asked}. A judge in Python "
                f"returns the reply as a text (str). "
            )
            is_number = isinstance(value, int | float)
            detail += AS_METRIC if is_number else f"Check the code of {self._name}."
            raise EndpointError(Reason.JUDGE_ERROR, detail)
        metadata = getattr(value, "response_metadata", None)
        metadata = metadata if isinstance(metadata, Mapping) else {}
        ended = metadata.get("finish_reason") or metadata.get("stop_reason")
        ended = ended or getattr(value, "stop_reason", None)
        finish = FINISH.get(ended if isinstance(ended, str) else None)
        model = metadata.get("model_name") or metadata.get("model")
        # A message of LangChain, a response of LlamaIndex, one of datapizza.
        usage: Any = {}
        for place in ("usage_metadata", "additional_kwargs", "usage"):
            usage = getattr(value, place, None)
            usage = usage if isinstance(usage, Mapping) else getattr(usage, "__dict__", {})
            if not usage.keys().isdisjoint(_READ):
                break
        return completed(text, finish, model, usage, _READ, _WRITTEN)


AS_METRIC = """A function that returns a score is a metric. Write it as `@ragassay.metric`:
    @ragassay.metric
    def my_score(query, answer, passages):
        return 1.0 if answer else 0.0
Then name it: ragassay run DATA -m my_module:my_score"""
"""What to write instead of a judge that returns numbers."""


def as_text(messages: Sequence[Message]) -> str:
    """Messages as one text. Where an earlier reply is among them, each message has its role."""
    roles = {message["role"] for message in messages}
    if "assistant" not in roles:
        return "\n\n".join(message["content"] for message in messages)
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)


def _call_of(judge: Any, name: str) -> tuple[Callable[[Any], Any], bool]:
    """How an object is called, and whether it takes a text (else messages)."""
    if inspect.isclass(judge):
        module, _, own = name.rpartition(":")
        raise UsageError(
            f"The judge {name} is a class. Give an object of it. On the command line, make "
            f"an object in the module (chat = {own}(...)) and name it: {module or 'module'}:chat."
        )
    if not inspect.isroutine(judge):
        for method, takes in _METHODS.items():
            call = getattr(judge, method, None)
            if callable(call):
                return call, takes == "text" or _names_a_text(call)
    if not callable(judge):
        raise UsageError(
            f"The judge {name} is {_kind(judge)}, which cannot be asked. Give a function that "
            "takes a text and returns a text, a chat model of LangChain or LlamaIndex, a client of "
            "datapizza, or the name of a model: judge='openai:gpt-4o-mini'."
        )
    try:
        signature = inspect.signature(judge)
    except (TypeError, ValueError):
        return judge, True  # a compiled function may have no signature
    try:
        signature.bind("prompt")
    except TypeError:
        names = ", ".join(signature.parameters) or "nothing"
        raise UsageError(
            f"The judge {name} is called with one argument, the prompt as a text; it takes {names}."
            f" {AS_METRIC}"
        ) from None
    return judge, next(iter(signature.parameters)) != "messages"


def _names_a_text(call: Callable[..., Any]) -> bool:
    """Whether a method takes the prompt as one text, as datapizza's ``invoke(input, ...)`` does;
    LangChain's has a ``config`` beside its ``input`` and takes messages."""
    try:
        names = list(inspect.signature(call).parameters)
    except (TypeError, ValueError):
        return False
    return names[:1] in (["input"], ["prompt"], ["text"]) and "config" not in names


def _text(value: Any) -> str | None:
    """The reply as a text; ``None`` where it is none."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bytes | Mapping | list | tuple | int | float):
        return None
    for holder in (getattr(value, "message", None), value):
        content = getattr(holder, "content", None)
        if isinstance(content, list):
            content = [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]
        try:
            text = text_of(content)
        except (TypeError, AttributeError):
            continue
        if text is not None:
            return text
    text = getattr(value, "text", None)
    return text if isinstance(text, str) else None


def _kind(value: Any) -> str:
    name = type(value).__name__
    article = "an" if name[0] in "aeiou" else "a"
    names = {"NoneType": "None (is a 'return' missing?)", "bytes": "bytes"}
    return names.get(name, f"{article} {name}")
