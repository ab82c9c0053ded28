"""The entry of the command: it can be interrupted while the rest is still being imported."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

COLLECTED_AFTER = (20_000, 20, 100)
"""Objects after which the process of a command looks for circles, and for older ones."""


def end_at_once(number: int, frame: FrameType | None) -> None:
    """Ends the process, which has begun nothing yet, in one sentence."""
    # No exception: it would be raised within whatever is being imported, which may drop it.
    with suppress(OSError):
        os.write(2, b"ragassay: Interrupted.\n")
    os._exit(130)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with its code."""
    main_thread = threading.current_thread() is threading.main_thread()
    if main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_at_once)
    from ragassay.cli.command_line import call

    # Samples and scores stay, and few are in circles: with Python's own thresholds, looking through
    # them again and again takes a seventh of a run of 20,000 samples.
    gc.set_threshold(*COLLECTED_AFTER)
    sys.exit(call(list(sys.argv[1:] if argv is None else argv)))
