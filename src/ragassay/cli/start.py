"""The entry of the command: it can be interrupted while the rest is still being imported."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from ragassay.cli import interrupt

COLLECTED_AFTER = (20_000, 20, 100)
"""Objects after which the process of a command looks for circles, and for older ones."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with its code."""
    interrupt.end_at_once()
    from ragassay.cli.command_line import call

    # Samples and scores stay, and few are in circles: with Python's own thresholds, looking through
    # them again and again takes a seventh of a run of 20,000 samples.
    gc.set_threshold(*COLLECTED_AFTER)
    sys.exit(call(list(sys.argv[1:] if argv is None else argv)))
