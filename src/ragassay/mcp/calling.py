"""How the tools of an MCP server work: in a thread, with progress, with errors in words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from ragassay.base.errors import RagassayError

R = TypeVar("R")
Progress = Callable[[float, float | None, str], None]
EVERY_S = 0.2
"""Seconds between two notices of progress."""


@contextmanager
def in_words() -> Iterator[None]:
    """Turns an error that a person can mend into one that the agent reads.

    Raises:
        ToolError: with the sentence.
    """
    try:
        yield
    except (RagassayError, OSError) as error:
        raise ToolError(str(error)) from error


async def in_thread(context: Context[Any, Any], work: Callable[[Progress], R]) -> R:
    """Does work that takes long in a thread, and reports its progress.

    Args:
        context: of the call.
        work: takes a function that reports progress: done, total and a sentence.

    Raises:
        ToolError: the work fails for a reason that a person can mend.
    """
    loop, last = asyncio.get_running_loop(), 0.0

    def report(done: float, of: float | None, sentence: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY_S or done == of:
            last = now
            asyncio.run_coroutine_threadsafe(context.report_progress(done, of, sentence), loop)

    return await asyncio.to_thread(in_words()(work), report)
