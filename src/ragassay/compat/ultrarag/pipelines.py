"""``build``, ``run`` and ``steps``: each starts the servers of a pipeline and ends them."""

from __future__ import annotations

import asyncio
import inspect
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from ragassay.base.errors import ArgumentError, OptionError, RagassayError
from ragassay.compat.ultrarag import mcp_servers, pipeline_file, ultrarag_servers
from ragassay.compat.ultrarag.binding import Binder, Bound, Built, parameter_file, written
from ragassay.compat.ultrarag.mcp_servers import ServerAddress
from ragassay.compat.ultrarag.pipeline_file import Pipeline
from ragassay.compat.ultrarag.pipeline_run import (
    KeptSteps,
    Observer,
    StepRunner,
    Variables,
    number_of,
)
from ragassay.compat.ultrarag.pipeline_tools import (
    FLOWS,
    PARAMETERS,
    Flow,
    Progress,
    Server,
    ServerError,
    Tool,
)
from ragassay.user_code.object_calls import in_thread

P = ParamSpec("P")
T = TypeVar("T")

_ENDING = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Options:
    """How a pipeline is run: its file of ``parameters`` (left out: the one beside it), the number
    or name of the step to ``begin`` with (what the steps before gave is taken from the last run),
    and the ``folder`` for what each step gives."""

    parameters: Path | None = None
    begin: str | None = None
    folder: Path | None = None


@dataclass(frozen=True)
class Finished:
    """A pipeline that was run: all variables at its end, the folder with what each step gave, and
    what a person should know."""

    variables: Variables
    folder: Path
    notes: tuple[str, ...] = ()


def _blocking(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The function that runs a coroutine to its end, as ``asyncio.run``. A signal that interrupts
    the program raises ``KeyboardInterrupt`` once the servers have ended."""

    @wraps(work)
    def run_to_end(*arguments: P.args, **options: P.kwargs) -> T:
        async def interruptible() -> T:
            task = asyncio.current_task()
            assert task is not None
            _on_signal(task.cancel)
            return await work(*arguments, **options)

        before = {number: signal.getsignal(number) for number in _ENDING}
        try:
            return asyncio.run(interruptible())
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            if threading.current_thread() is threading.main_thread():
                for number, handler in before.items():
                    signal.signal(number, handler)

    return run_to_end


def _on_signal(end: Callable[[], Any]) -> None:
    """What a signal that interrupts the program does from now on, unless it is ignored."""
    on_main = threading.current_thread() is threading.main_thread()
    if on_main and sys.platform != "win32":
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, end)


@_blocking
async def build(path: Path) -> Built:
    """Writes the parameter file of a pipeline, ``parameters/NAME_parameter.yaml`` beside it, or
    says what the one that is there lacks.

    Raises:
        InputError: a mistake in the pipeline, with line and field.
        ServerError: a server that does not start.
    """
    pipeline, file = pipeline_file.read(path), parameter_file(path)
    async with _started(pipeline) as servers:
        needed = Binder(pipeline, servers).bind()
        built = written(file, needed.parameters)
        unset = dict.fromkeys(f"{step.server}.{name}" for step, name in needed.unset)
        notes = [f"{file}: {name} has no default. Write its value." for name in unset]
        try:
            found = Binder(pipeline, servers, file).bind(check=True)
            notes = [*(notes if built.is_new else []), *found.notes]
        except RagassayError as error:  # what a run would say
            notes.append(str(error))
    return replace(built, notes=tuple(notes))


@_blocking
async def run(
    path: Path, options: Options | None = None, observer: Observer | None = None
) -> Finished:
    """Runs a pipeline.

    Raises:
        InputError: a mistake in the pipeline or its parameters, found before the first step.
        StepError: a step failed; what was computed before is kept.
        ServerError: a server that does not start.
    """
    pipeline, options = pipeline_file.read(path), options or Options()
    begin = 1 if options.begin is None else number_of(pipeline, options.begin)
    folder = options.folder or Path("output") / f"{path.stem}_steps"
    async with _ready(pipeline, options) as (servers, bound):
        kept = KeptSteps(folder, pipeline, bound)
        runner = StepRunner(pipeline, bound, servers, kept, observer or Observer())
        variables = await runner.run(begin)
    return Finished(variables, folder, tuple(bound.notes))


@_blocking
async def steps(path: Path, options: Options | None = None) -> list[str]:
    """Checks a pipeline as `run` does, and says of each step what it takes and gives."""
    pipeline = pipeline_file.read(path)
    async with _ready(pipeline, options or Options()) as (_, bound):
        return [
            f"{int(place[1]) + 1} {call.step.name}: "
            f"{', '.join([*call.parameters.values(), *call.variables.values()]) or 'nothing'} -> "
            f"{', '.join(call.outputs.values()) or 'nothing'}"
            for place, call in bound.calls.items()
        ]


@asynccontextmanager
async def _ready(
    pipeline: Pipeline, options: Options
) -> AsyncIterator[tuple[Mapping[str, Server], Bound]]:
    """The servers of a pipeline, started, and what its steps need, checked."""
    file = options.parameters or parameter_file(pipeline.path)
    is_there = options.parameters is not None or file.is_file()
    async with _started(pipeline) as servers:
        yield servers, Binder(pipeline, servers, file if is_there else None).bind(check=True)


@asynccontextmanager
async def _started(pipeline: Pipeline) -> AsyncIterator[Mapping[str, Server]]:
    """The servers that the steps use. An error is raised without the exception groups around it."""
    used = dict.fromkeys(step.server for step in pipeline.tools())
    places = {name: mcp_servers.address(pipeline, name) for name in used}
    if any(place.kind != "builtin" for place in places.values()):
        mcp_servers.needs_mcp()
    failure: BaseException | None = None
    try:
        async with AsyncExitStack() as stack:
            servers: dict[str, Server] = {}
            try:
                for name, place in places.items():
                    if place.kind == "builtin":
                        servers[name] = BuiltinServer(place.where)
                        continue
                    try:
                        servers[name] = await stack.enter_async_context(mcp_servers.started(place))
                    except (ServerError, BaseExceptionGroup) as error:
                        raise _start_error(pipeline, name, place, error) from error
                yield servers
            except RagassayError as error:
                failure = error
            finally:
                # Servers that hang take some seconds to end; a second Ctrl-C would leave them.
                _on_signal(lambda: None)
    except BaseExceptionGroup as group:
        failure = failure or mcp_servers.first_of(group)
    if failure is not None:
        raise failure


def _start_error(
    pipeline: Pipeline, name: str, place: ServerAddress, error: BaseException
) -> RagassayError:
    first = mcp_servers.first_of(error)
    if not isinstance(first, ServerError):
        raise first
    where, verb = place.where, "does not start"
    if place.kind == "url":  # which may hold a key
        where, verb = re.sub(r"//[^/]*@", "//", where.split("?")[0]), "cannot be used"
    return pipeline.marked.wrong(("servers", name), f"the server {where!r} {verb}: {first}")


_FUNCTIONS: Mapping[str, Callable[..., Mapping[str, Any]]] = {
    tool: getattr(ultrarag_servers, tool) for flows in FLOWS.values() for tool in flows
}


class BuiltinServer:
    """``benchmark`` or ``evaluation``: UltraRAG's tools, computed in this process."""

    def __init__(self, name: str) -> None:
        self.parameters: Mapping[str, Any] = PARAMETERS[name]
        self.tools: Mapping[str, Tool] = {}
        for tool, flow in FLOWS[name].items():
            arguments = list(inspect.signature(_FUNCTIONS[tool]).parameters)
            self.tools[tool] = Tool(tool, Flow.declared(flow, arguments, self.parameters))

    def outputs(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The columns of the key map for ``get_data``, else what the tool declares."""
        if tool.name == "get_data" and "benchmark" in arguments:
            try:
                return tuple(ultrarag_servers.checked(arguments["benchmark"]).key_map)
            except ArgumentError as error:
                raise OptionError("benchmark", str(error)) from error
        for name, value in arguments.items():
            ultrarag_servers.check_argument(tool.name, name, value)
        return tool.flow.outputs

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        """Calls the function in a thread, which an interrupt does not wait for."""
        try:
            if tool.name != "get_data":
                self.outputs(tool, arguments)  # which checks them
            work = partial(copy_context().run, _FUNCTIONS[tool.name], **arguments)
            result: Mapping[str, Any] = await in_thread(work)
        except RagassayError as error:
            raise ServerError(str(error)) from error
        return result
