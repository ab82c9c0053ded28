"""``build``, ``run`` and ``steps``: each starts the servers of a pipeline and ends them."""

from __future__ import annotations

import asyncio
import re
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from ragassay.base.errors import RagassayError
from ragassay.compat.ultrarag import mcp_servers, parameter_file, pipeline_file
from ragassay.compat.ultrarag.binding import Binder, Bound
from ragassay.compat.ultrarag.builtin_servers import BuiltinServer
from ragassay.compat.ultrarag.kept_steps import KeptSteps, Variables, number_of
from ragassay.compat.ultrarag.parameter_file import Built
from ragassay.compat.ultrarag.pipeline_file import Pipeline
from ragassay.compat.ultrarag.pipeline_run import Observer, StepRunner
from ragassay.compat.ultrarag.pipeline_tools import Server, ServerError
from ragassay.compat.ultrarag.server_address import ServerAddress, address

P = ParamSpec("P")
T = TypeVar("T")

_ENDING = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Options:
    """How a pipeline is run.

    Attributes:
        parameters: its parameter file; the one beside the pipeline when left out.
        begin: number or name of the step to begin with; what the steps before gave is taken from
            the last run.
        folder: for what each step gives.
    """

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
            with _cancelling():
                try:
                    return await work(*arguments, **options)
                except KeyboardInterrupt as interrupt:
                    raise asyncio.CancelledError from interrupt

        try:
            return asyncio.run(interruptible())
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    return run_to_end


@contextmanager
def _cancelling() -> Iterator[None]:
    """Lets a signal that interrupts the program cancel this task while another one runs.

    Raised in a task of a server's connection, it would be printed: asyncio tells of each exception
    that nobody takes.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    on_main = threading.current_thread() is threading.main_thread()
    before: dict[int, Any] = {n: signal.getsignal(n) for n in _ENDING} if on_main else {}

    def cancel(number: int, frame: FrameType | None) -> None:
        try:
            before[number](number, frame)
        except KeyboardInterrupt:
            if asyncio.current_task(loop) is task:
                raise
            loop.call_soon_threadsafe(task.cancel)

    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, cancel)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignore_interrupts() -> None:
    """Lets no signal interrupt what is left: servers that hang are being ended, which takes some
    seconds, and a second Ctrl-C would leave them running. `_cancelling` takes it back."""
    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)


@_blocking
async def build(path: Path) -> Built:
    """Writes the parameter file of a pipeline, ``parameters/NAME_parameter.yaml`` beside it, or
    says what the one that is there lacks.

    Raises:
        InputError: a mistake in the pipeline, with line and field.
        ServerError: a server that does not start.
    """
    pipeline = pipeline_file.read(path)
    file = parameter_file.existing(path) or parameter_file.paths(path)[0]
    async with _started(pipeline) as servers:
        needed = Binder(pipeline, servers).bind()
        built = parameter_file.write(file, needed.parameters)
        unset = dict.fromkeys(f"{step.server}.{name}" for step, name in needed.unset)
        notes = [f"{file}: {name} has no default. Write its value." for name in unset]
        try:
            checked = Binder(pipeline, servers, file).bind_checked()
            notes = [*(notes if built.is_new else []), *checked[1]]
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
    async with _ready(pipeline, options) as (servers, bound, notes):
        kept = KeptSteps(folder, pipeline, bound)
        runner = StepRunner(pipeline, bound, servers, kept, observer or Observer())
        variables = await runner.run(begin)
    return Finished(variables, folder, tuple(notes))


@_blocking
async def steps(path: Path, options: Options | None = None) -> list[str]:
    """Checks a pipeline as `run` does, and says of each step what it takes and gives."""
    pipeline = pipeline_file.read(path)
    async with _ready(pipeline, options or Options()) as (_, bound, _):
        return [
            f"{int(place[1]) + 1} {call.step.name}: "
            f"{', '.join([*call.parameters.values(), *call.variables.values()]) or 'nothing'} -> "
            f"{', '.join(call.outputs.values()) or 'nothing'}"
            for place, call in bound.calls.items()
        ]


@asynccontextmanager
async def _ready(
    pipeline: Pipeline, options: Options
) -> AsyncIterator[tuple[Mapping[str, Server], Bound, list[str]]]:
    """The servers of a pipeline, started; what its steps need, checked; and notes."""
    file = options.parameters or parameter_file.existing(pipeline.path)
    async with _started(pipeline) as servers:
        yield servers, *Binder(pipeline, servers, file).bind_checked()


@asynccontextmanager
async def _started(pipeline: Pipeline) -> AsyncIterator[Mapping[str, Server]]:
    """The servers that the steps use. An error is raised without the exception groups around it."""
    used = dict.fromkeys(step.server for step in pipeline.tools())
    places = {name: address(pipeline, name) for name in used}
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
                _ignore_interrupts()
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
