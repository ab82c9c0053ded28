"""The event loop that all asynchronous work runs on: one, in a thread of its own for the whole
process, because a client's pool of connections belongs to the loop that opened them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")

_loops: list[_Loop] = []
_starting = threading.Lock()
_owner: ContextVar[WeakSet[asyncio.Task[Any]] | None] = ContextVar("owner", default=None)


class _Loop:
    """A running loop and its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.set_task_factory(_task)
        self.thread = threading.Thread(
            target=self.loop.run_forever, name="ragassay-loop", daemon=True
        )
        self.thread.start()


def _task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
    task = asyncio.Task(work, loop=loop, **options)
    owner = _owner.get()
    if owner is not None:
        owner.add(task)
    return task


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_loops.clear)  # threads do not survive a fork


class Background:
    """Work on the background loop that ends together, with all that it began."""

    def __init__(self) -> None:
        # The loop of the process. Code that runs on it, and waits, gets another one.
        with _starting:
            here = threading.current_thread()
            found = next((loop for loop in _loops if loop.thread is not here), None)
            if found is None:
                _loops.append(found := _Loop())
        self._on = found
        self._tasks: WeakSet[asyncio.Task[Any]] = WeakSet()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begins a coroutine, from any thread."""
        context = copy_context()
        context.run(_owner.set, self._tasks)
        return context.run(asyncio.run_coroutine_threadsafe, work, self._on.loop)

    def close(self, timeout: float | None = None) -> None:
        """Cancels what has not ended, and waits for it. What takes longer holds the loop: a
        `TimeoutError` is raised, and later work gets a new loop."""
        try:
            self.submit(self._cancel()).result(timeout)
        except TimeoutError:
            with _starting:
                if self._on in _loops:
                    _loops.remove(self._on)
            raise

    async def _cancel(self) -> None:
        others = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


def run(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Begins a coroutine on the background loop; what it leaves behind is cancelled at its end."""
    background = Background()

    async def whole() -> T:
        try:
            return await work
        finally:
            await background._cancel()

    return background.submit(whole())
