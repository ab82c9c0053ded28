"""Signals that end a command: Ctrl-C (SIGINT), SIGTERM and SIGHUP; answers to requests in flight
are still kept. Python drops a ``KeyboardInterrupt`` where nothing can be raised, so the signal is
remembered, and long work calls `check` now and then."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_received = threading.Event()

_ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def _end(number: int, frame: FrameType | None) -> None:
    # No exception: it would be raised within whatever is being imported, which may drop it.
    with suppress(OSError):
        os.write(2, b"ragassay: Interrupted.\n")
    os._exit(130)


_DEFAULT = (signal.default_int_handler, signal.SIG_DFL, _end)
"""The handlers of a signal that nobody else has set."""


def end_at_once() -> None:
    """Lets Ctrl-C end the process, which has begun nothing yet, in one sentence."""
    main_thread = threading.current_thread() is threading.main_thread()
    if main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def remembered() -> Iterator[None]:
    """Remembers these signals while the block runs. A signal that another program handles or
    ignores (``nohup``) is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _received.clear()
    before = {
        number: handler for number in _ENDING if (handler := signal.getsignal(number)) in _DEFAULT
    }
    for number in before:
        signal.signal(number, _receive)
    unraisable, sys.unraisablehook = sys.unraisablehook, _drop
    try:
        yield
    finally:
        sys.unraisablehook = unraisable
        for number, handler in before.items():
            signal.signal(number, handler)


def is_received() -> bool:
    """Whether there was such a signal since they are remembered."""
    return _received.is_set()


def check() -> None:
    """Raises ``KeyboardInterrupt`` after such a signal, if it was dropped then; on the main thread
    only."""
    if _received.is_set() and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def _drop(lost: sys.UnraisableHookArgs) -> None:
    """Replaces the traceback that Python shows for an exception that it drops."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)


def _receive(number: int, frame: FrameType | None) -> None:
    _received.set()
    signal.default_int_handler(number, frame)
