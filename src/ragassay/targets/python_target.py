"""A system in Python: a function, a LangChain runnable, a LlamaIndex query engine."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import inspect
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ragassay.errors import UsageError, did_you_mean
from ragassay.samples import Passage, Sample
from ragassay.scores import Reason
from ragassay.targets.reply_shapes import reply_of
from ragassay.targets.target import PASSAGES, Request, Stopwatch, SystemReply, Target, shown
from ragassay.transport.endpoints import EndpointError

_QUESTIONS = ("query", "question", "input", "q", "prompt")
_HISTORIES = ("chat_history", "history", "messages")
_STREAMED = ("answer", "result", "response", "output", "text")
"""Keys whose texts are joined where a stream gives mappings."""

Call = Callable[[Request], Any]


class PythonTarget(Target):
    """A Python object that answers.

    A function takes the query (or, where its first parameter is called ``sample`` or annotated
    `Sample`, the sample), and ``history`` and ``metadata`` where it has parameters of these names.
    It may be a coroutine function, or a generator of the answer's pieces. Functions that are no
    coroutines run in threads.

    Args:
        found: the object.
        name: the system's name; the object's own where left out.
        where: ``module:function``; the name where left out.

    Raises:
        UsageError: the object cannot be asked.
    """

    def __init__(self, found: Any, name: str | None = None, where: str | None = None) -> None:
        own = (getattr(found, "__name__", None) or type(found).__name__).strip("<>")
        super().__init__(name or own, where or own)
        self._call = _call_of(found, self.url)
        self._source = _source_of(found)

    @property
    def takes_passages(self) -> bool:
        """Whether it has a parameter or key for them, or takes the whole sample."""
        return bool(getattr(self._call, "takes_passages", False))

    @property
    def identity(self) -> Mapping[str, Any]:
        """Where the object is, and the hash of the file that defines it."""
        return {"kind": "python", "where": self.url, "source": self._source}

    async def answer(self, request: Request, watch: Stopwatch) -> SystemReply:
        """Calls the object."""
        try:
            value = await _finished(self._call, request, watch)
            return reply_of(value)
        except EndpointError as error:
            error.detail = f"{self.url}: {error.detail}"
            raise
        except Exception as error:
            said = shown(str(error)).rstrip(".")
            place = _place(error)
            detail = (
                f"{self.url} raised {type(error).__name__}{f': {said}' if said else ''}{place}."
            )
            raise EndpointError(Reason.FAILED, detail) from error


def load(where: str) -> Any:
    """The object that ``module:function`` names. Modules of the working directory count.

    Raises:
        UsageError: there is no such module or object, or the module fails.
    """
    module, _, path = where.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if module == missing or module.startswith(f"{missing}."):
            raise UsageError(
                f"The target {where}: there is no module {module!r} here or among the installed "
                "packages. Run the command in the folder that holds it."
            ) from error
        raise UsageError(
            f"The target {where}: its module needs {missing!r}, which is not installed."
        ) from error
    except Exception as error:
        said = shown(str(error)).rstrip(".")
        raise UsageError(
            f"The target {where}: its module cannot be imported ({type(error).__name__}: {said})."
        ) from error
    for name in path.split("."):
        if not hasattr(found, name):
            there = [one for one in vars(found) if not one.startswith("_")] if found else []
            hint = did_you_mean(name, there)
            raise UsageError(f"The target {where}: {module} has no {path!r}. {hint}")
        found = getattr(found, name)
    return found


def _call_of(found: Any, where: str) -> Call:
    """A function of a request that calls the object in its own way."""
    for names, adapted in (
        (("astream", "ainvoke", "invoke"), _runnable),
        (("aquery", "query"), _query_engine),
    ):
        method = next((getattr(found, one) for one in names if hasattr(found, one)), None)
        if callable(method) and not inspect.isclass(found):
            return adapted(found, method)
    if not callable(found):
        raise UsageError(
            f"The target {where} is a {type(found).__name__}, which cannot be called. Name a "
            "function of the query, a LangChain runnable or a LlamaIndex query engine."
        )
    return _function(found)


def _function(found: Callable[..., Any]) -> Call:
    try:
        parameters = list(inspect.signature(found).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = {one.name for one in parameters}
    first = parameters[0] if parameters else None
    wants_sample = first is not None and (
        first.name == "sample" or first.annotation in (Sample, "Sample", "ragassay.Sample")
    )

    def call(request: Request) -> Any:
        given: Any = request.query
        if wants_sample:
            given = Sample(
                id=request.id, query=request.query, history=request.history,
                repeat=request.repeat, metadata=request.metadata,
                passages=None
                if request.passages is None
                else tuple(Passage(text) for text in request.passages),
            )  # fmt: skip
        more: dict[str, Any] = {}
        if "history" in names and (first is None or first.name != "history"):
            more["history"] = list(request.history)
        if "metadata" in names:
            more["metadata"] = dict(request.metadata)
        if request.passages is not None:
            more |= {name: list(request.passages) for name in PASSAGES & names}
        return found(given, **more)

    call.is_async = _is_async(found)  # type: ignore[attr-defined]
    call.takes_passages = wants_sample or not PASSAGES.isdisjoint(names)  # type: ignore[attr-defined]
    return call


def _runnable(found: Any, method: Callable[..., Any]) -> Call:
    """A runnable is given the text, or a mapping where it names its keys."""

    def call(request: Request) -> Any:
        keys = _input_keys(found)
        question = next((one for one in _QUESTIONS if one in keys), None)
        if question is None and len(keys) == 1:
            (question,) = keys
        if question is None or question == "messages":
            return method({"messages": request.messages} if "messages" in keys else request.query)
        given: dict[str, Any] = {question: request.query}
        history = next((one for one in _HISTORIES if one in keys), None)
        if history is not None:
            roles = {"agent": "ai", "user": "human"}
            given[history] = [(roles.get(t.speaker, t.speaker), t.text) for t in request.history]
        if request.passages is not None:
            given |= {name: list(request.passages) for name in PASSAGES & set(keys)}
        return method(given)

    call.is_async = method.__name__ != "invoke"  # type: ignore[attr-defined]
    call.takes_passages = not PASSAGES.isdisjoint(_input_keys(found))  # type: ignore[attr-defined]
    return call


def _query_engine(found: Any, method: Callable[..., Any]) -> Call:
    def call(request: Request) -> Any:
        return method(request.query)

    call.is_async = method.__name__ == "aquery"  # type: ignore[attr-defined]
    return call


def _input_keys(found: Any) -> list[str]:
    """The keys that a runnable takes; none where it takes a text or does not say."""
    keys = getattr(found, "input_keys", None)
    if isinstance(keys, list | tuple):
        return [str(one) for one in keys]
    schema = getattr(found, "get_input_jsonschema", None)
    try:
        told = schema() if callable(schema) else {}
    except Exception:  # a schema that cannot be told says nothing
        return []
    return list(told.get("properties") or ()) if isinstance(told, Mapping) else []


def _is_async(found: Callable[..., Any]) -> bool:
    own = getattr(found, "__call__", found)  # noqa: B004 - of an object with __call__
    return any(
        is_of_kind(one)
        for one in (found, own)
        for is_of_kind in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    )


async def _finished(call: Call, request: Request, watch: Stopwatch) -> Any:
    """What a call returns in the end; the pieces of a stream are joined."""
    if getattr(call, "is_async", False):
        value = call(request)
    else:
        value = await _in_thread(lambda: _of_iterator(call(request), watch))
    if inspect.isawaitable(value):
        value = await value
    if isinstance(value, AsyncIterator):
        pieces = []
        async for piece in value:
            if _has_words(piece):
                watch.words_came()
            pieces.append(piece)
        value = _joined(pieces)
    for name in ("async_response_gen", "response_gen"):  # LlamaIndex, streaming
        stream = getattr(value, name, None)
        if stream is None or (hasattr(value, "response") and getattr(value, "response", None)):
            continue
        nodes = list(getattr(value, "source_nodes", ()) or ())
        told = stream() if callable(stream) else stream
        if isinstance(told, AsyncIterator):
            text = await _finished(_streams(told), request, watch)
        else:
            text = await _in_thread(partial(_of_iterator, iter(told), watch))
        return {"answer": text, "passages": nodes}
    return value


def _streams(told: Any) -> Call:
    def call(request: Request) -> Any:
        return told

    call.is_async = True  # type: ignore[attr-defined]
    return call


def _of_iterator(value: Any, watch: Stopwatch) -> Any:
    if not isinstance(value, Iterator):
        return value
    pieces = []
    for piece in value:
        if _has_words(piece):
            watch.words_came()
        pieces.append(piece)
    return _joined(pieces)


def _has_words(piece: Any) -> bool:
    if isinstance(piece, Mapping):
        return any(piece.get(key) for key in _STREAMED)
    return bool(getattr(piece, "content", piece))


def _joined(pieces: list[Any]) -> Any:
    """The whole of a stream: texts are joined, mappings merged, messages added."""
    if not pieces:
        return None
    if all(isinstance(one, str) for one in pieces):
        return "".join(pieces)
    if all(isinstance(one, str | Mapping) for one in pieces):
        whole: dict[str, Any] = {}
        for piece in pieces:
            for key, value in ({"answer": piece} if isinstance(piece, str) else piece).items():
                before = whole.get(key)
                joins = key in _STREAMED and isinstance(before, str) and isinstance(value, str)
                whole[key] = f"{before}{value}" if joins else value
        return whole
    whole_message = pieces[0]
    for piece in pieces[1:]:
        whole_message = whole_message + piece
    return whole_message


async def _in_thread(work: Callable[[], Any]) -> Any:
    """Runs a function in a thread of its own. A function that hangs does not hold the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(take: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            take(value)

    def run() -> None:
        try:
            outcome, take = work(), done.set_result
        except BaseException as error:  # also SystemExit of somebody's code
            if isinstance(error, StopIteration):  # a future cannot hold it
                error = RuntimeError("it raised StopIteration")
            outcome, take = error, done.set_exception
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, take, outcome)

    threading.Thread(target=run, daemon=True, name="ragassay-target").start()
    return await done


def _source_of(found: Any) -> str:
    """The hash of the file that defines an object; empty where there is none."""
    defined = found if inspect.isroutine(found) or inspect.isclass(found) else type(found)
    module = sys.modules.get(getattr(defined, "__module__", "") or "")
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file():
        return ""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def _place(error: BaseException) -> str:
    """Where an exception was raised: file and line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})"  # noqa: PTH119
