"""Calling a user's own code: in threads, with its errors in words."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import traceback
from collections.abc import Callable
from typing import Any

_SHOWN = 200


def described(error: BaseException, *, place: bool = False) -> str:
    """An exception in one line: its type and what it says, shortened; and its place if wanted."""
    text = " ".join(str(error).split())
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    text = f": {text.rstrip('.')}" if text else ""
    frames = traceback.extract_tb(error.__traceback__)[-1:] if place else []
    at = "".join(f" ({os.path.basename(frame.filename)}:{frame.lineno})" for frame in frames)  # noqa: PTH119
    return f"{type(error).__name__}{text}{at}."


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling an object gives a coroutine or an asynchronous generator."""
    own = getattr(function, "__call__", function)  # noqa: B004 - of an object with __call__
    kinds = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(is_of_kind(value) for value in (function, own) for is_of_kind in kinds)


async def in_thread(work: Callable[[], Any]) -> Any:
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

    threading.Thread(target=run, daemon=True, name="ragassay-user-code").start()
    return await done
