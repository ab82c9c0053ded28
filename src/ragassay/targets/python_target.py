"""A system in Python: a function, a LangChain runnable, a LlamaIndex query engine or model."""

from __future__ import annotations

import asyncio
import inspect
import operator
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial, reduce
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.sample import Passage, Sample
from ragassay.base.score import Reason
from ragassay.targets import target
from ragassay.targets.reply_shapes import ANSWERS, SystemReply, foreign, kind_of, reply_of
from ragassay.targets.target import PASSAGES, Request, Stopwatch, Target
from ragassay.transport.endpoints import EndpointError
from ragassay.user_code.code_sources import source_of
from ragassay.user_code.object_calls import described, in_thread, is_async

_STREAMED = ("answer", "result", "response", "output", "text")
"""Keys whose texts are joined where a stream gives mappings."""

_SAMPLE = (Sample, "Sample", "ragassay.Sample")
"""How functions annotate a parameter that takes the sample."""

_OBJECT = 64
"""Bytes of an object in memory, at least."""


@dataclass(frozen=True)
class Call:
    """How an object is called, on the loop or in a thread, and whether it takes passages."""

    with_request: Callable[[Request], Any]
    is_async: bool
    takes_passages: bool = False


class PythonTarget(Target):
    """A Python object that answers: of the query, or, where its first parameter is called
    ``sample`` or annotated `Sample`, of the sample; with ``history`` and ``metadata`` where it has
    such parameters. Functions that are no coroutines run in threads."""

    def __init__(self, system: Any, name: str | None = None, where: str | None = None) -> None:
        own = (getattr(system, "__name__", None) or type(system).__name__).strip("<>")
        # An object of a class has no name of its own: "QueryEngine" says less than "my_engine".
        written = (where or "").partition(":")[2]
        super().__init__(name or written or own, where or own)
        self._call = _call_of(system, self.url)
        self._source = source_of(system, where or "")

    @property
    def takes_passages(self) -> bool:
        """Whether it has a parameter or key for them, or takes the whole sample."""
        return self._call.takes_passages

    @property
    def identity(self) -> Mapping[str, Any]:
        """Where the object is, and the hash of the user's own code that it runs."""
        return {"kind": "python", "where": self.url, "source": self._source}

    async def call(self, request: Request, watch: Stopwatch) -> SystemReply:
        """Calls the object."""
        try:
            return reply_of(await _finished(self._call, request, watch))
        except EndpointError:
            raise
        except BaseException as error:  # a system's own sys.exit or cancelled task ends only this
            if isinstance(error, GeneratorExit) or _is_cancelled():
                raise
            detail = f"{self.url} raised {described(error, place=True)}"
            raise EndpointError(Reason.FAILED, detail) from error


def _is_cancelled() -> bool:
    """Whether the running task was asked to end, by a deadline or the end of the asking."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _call_of(system: Any, where: str) -> Call:
    # A model of LlamaIndex has an astream of its own.
    for name in ("acomplete", "astream", "ainvoke", "invoke", "aquery", "query"):
        method = None if inspect.isclass(system) else getattr(system, name, None)
        if callable(method):
            if name in ("astream", "ainvoke", "invoke"):
                return _runnable(system, method, is_async=name != "invoke")
            return Call(partial(_of_query, method), name in ("acomplete", "aquery"))
    if not callable(system):
        raise UsageError(
            f"The target {where} is a {type(system).__name__}, which cannot be called. Name a "
            "function of the query, a LangChain runnable or a LlamaIndex query engine; a chat "
            "engine is called from a function."
        )
    return _function(system, where)


def _function(function: Callable[..., Any], where: str) -> Call:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a compiled function does not say what it takes
        signature = inspect.signature(lambda query: query)
    parameters = list(signature.parameters.values())
    # The first parameter is the query, whatever its name.
    names = {parameter.name for parameter in parameters[1:]} & {"history", "metadata", *PASSAGES}
    try:
        signature.bind("query", **dict.fromkeys(names))
    except TypeError:
        takes = ", ".join(parameter.name for parameter in parameters) or "nothing"
        given = "one argument, the query (and history, metadata or passages where it names them)"
        problem = f"The target {where} is called with {given}; it takes {takes}."
        raise UsageError(problem) from None
    first = parameters[0]
    wants_sample = first.name == "sample" or first.annotation in _SAMPLE

    def call(request: Request) -> Any:
        asked: Any = request.query
        if wants_sample:
            parts = {field.name: getattr(request, field.name) for field in fields(request)}
            texts = request.passages
            parts["passages"] = None if texts is None else tuple(map(Passage, texts))
            asked = Sample(**parts)
        parts = {"history": list(request.history), "metadata": dict(request.metadata)}
        more = {name: part for name, part in parts.items() if name in names}
        return function(asked, **more, **request.passages_under(names))

    return Call(call, is_async(function), wants_sample or not PASSAGES.isdisjoint(names))


def _runnable(system: Any, method: Callable[..., Any], *, is_async: bool) -> Call:
    """A runnable is given the text, or a mapping where it names its keys."""

    def call(request: Request) -> Any:
        keys = _input_keys(system)
        # A chain of LangChain calls its output "text", too: among others it is not the query.
        question = target.question_among([key for key in keys if key != "text"], keys)
        if question is None or question == "messages":
            return method({"messages": request.messages} if "messages" in keys else request.query)
        roles = {"agent": "ai", "user": "human"}
        history = [(roles.get(turn.speaker, turn.speaker), turn.text) for turn in request.history]
        return method(request.arguments(keys, question, history))

    return Call(call, is_async, not PASSAGES.isdisjoint(_input_keys(system)))


def _of_query(method: Callable[..., Any], request: Request) -> Any:
    """A query engine or model of LlamaIndex is given the text."""
    return method(request.query)


def _input_keys(system: Any) -> list[str]:
    """The keys that a runnable takes; none where it takes a text or does not say."""
    keys = getattr(system, "input_keys", None)
    if isinstance(keys, list | tuple):
        return [str(key) for key in keys]
    make = getattr(system, "get_input_jsonschema", None)
    try:
        schema = make() if callable(make) else {}
    except Exception:  # a schema that cannot be made says nothing
        return []
    return list(schema.get("properties") or ()) if isinstance(schema, Mapping) else []


async def _finished(call: Call, request: Request, watch: Stopwatch) -> Any:
    """What a call returns in the end; the pieces of a stream are joined."""
    if call.is_async:
        value = call.with_request(request)
    else:
        value = await in_thread(lambda: _whole(call.with_request(request), watch))
    if inspect.isawaitable(value):
        value = await value
    value = await _whole_async(value, watch)
    for name in ("async_response_gen", "response_gen"):  # LlamaIndex, streaming
        stream = getattr(value, name, None)
        if stream is None or getattr(value, "response", None):
            continue
        pieces = stream() if callable(stream) else stream
        if isinstance(pieces, AsyncIterator):
            text = await _whole_async(pieces, watch)
        else:
            text = await in_thread(partial(_whole, iter(pieces), watch))
        return {"answer": text, "passages": list(getattr(value, "source_nodes", ()) or ())}
    return value


async def _whole_async(value: Any, watch: Stopwatch) -> Any:
    """The pieces of an asynchronous stream as one value; anything else unchanged."""
    if not isinstance(value, AsyncIterator):
        return value
    stream = _Pieces(watch)
    async for piece in value:
        stream.add(piece)
    return _joined(stream.pieces)


def _whole(value: Any, watch: Stopwatch) -> Any:
    """The pieces of a stream as one value; anything else unchanged."""
    if not isinstance(value, Iterator):
        return value
    stream = _Pieces(watch)
    for piece in value:
        stream.add(piece)  # nothing else ends the thread of a stream without an end
    return _joined(stream.pieces)


class _Pieces:
    """The pieces of a stream, as they come."""

    def __init__(self, watch: Stopwatch) -> None:
        self.pieces: list[Any] = []
        self._watch, self._size = watch, 0

    def add(self, piece: Any) -> None:
        if isinstance(piece, Mapping):
            has_words = any(piece.get(key) for key in _STREAMED)
        else:
            has_words = bool(getattr(piece, "content", piece))
        if has_words:
            self._watch.words_came()
        self.pieces.append(piece)
        # About how many bytes they take at least.
        self._size += _OBJECT + (len(piece) if isinstance(piece, str) else 0)
        target.refuse_endless(self._size)


def _joined(pieces: list[Any]) -> Any:
    """A stream as one value: texts are joined (a mapping may be the last piece, and its answer,
    where it has one, counts), mappings merged, messages added."""
    if not pieces:
        return None
    if all(isinstance(item, str) for item in pieces):
        return "".join(pieces)
    *texts, last = pieces
    if texts and isinstance(last, Mapping) and all(isinstance(text, str) for text in texts):
        has_answer = not last.keys().isdisjoint(ANSWERS) or "reply" in last
        return last if has_answer else {"answer": "".join(texts), **last}
    if all(isinstance(item, Mapping) for item in pieces):
        merged: dict[str, Any] = {}
        for piece in pieces:
            for key, value in piece.items():
                before = merged.get(key)
                joins = key in _STREAMED and isinstance(before, str) and isinstance(value, str)
                merged[key] = f"{before}{value}" if joins else value
        return merged
    if any(isinstance(item, str | Mapping) for item in pieces):
        names = ", ".join(dict.fromkeys(kind_of(item) for item in pieces))
        do = "Give texts and, at last, one mapping as the last piece; or mappings alone"
        raise foreign(f"it gave a stream of pieces of several kinds ({names}). {do}")
    return reduce(operator.add, pieces)
