"""A loop whose clock jumps: what takes minutes is over at once, and no load changes its order."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next timer instead of waiting for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self.now = max(self.now, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def virtually(work: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work(loop))
    finally:
        loop.close()


def in_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is given such a loop, which runs it."""

    def run(**given: Any) -> None:
        virtually(lambda loop: test(loop, **given))

    _, *others = inspect.signature(test).parameters.values()
    run.__name__, run.__doc__ = test.__name__, test.__doc__
    run.__signature__ = inspect.Signature(others)  # type: ignore[attr-defined]
    return run
