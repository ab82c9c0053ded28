"""The progress bar of an evaluation from Python."""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[int], None]
"""Called with the number of samples done so far."""

PATIENCE_S = 1.0
"""Seconds before a bar appears; shorter runs need none."""

EVERY_S = 10.0
"""Seconds between two lines, where there is no bar."""


@contextmanager
def shown_progress(
    wanted: bool | Progress | None,
    total: Callable[[], int | None],
    doing: Callable[[], str] | None = None,
) -> Iterator[Progress | None]:
    """Shows how many samples are done.

    ``wanted`` is a function of that number; ``True`` for a bar (by tqdm where that is installed,
    else lines on standard error), ``False`` for nothing, ``None`` for a bar in a notebook only.
    Yields the function to be called, ``None`` where nothing is shown.
    """
    if callable(wanted) or wanted is False or (wanted is None and not in_notebook()):
        yield wanted or None
        return
    bar = _tqdm(total)
    if bar is None:
        yield _lines(total, doing)
        return

    def update(n: int) -> None:
        if doing is not None:
            bar.set_postfix_str(doing(), refresh=False)
        bar.update(n - bar.n)

    try:
        yield update
    finally:
        bar.close()


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


def _tqdm(total: Callable[[], int | None]) -> Any:
    """A bar of tqdm for a terminal or a notebook; ``None`` where tqdm is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are no widgets: a text bar does
            tqdm = importlib.import_module("tqdm.auto").tqdm
        options = {"desc": "scoring", "unit": " samples", "leave": False, "delay": PATIENCE_S}
        return tqdm(total=total(), **options)
    except ImportError:
        return None


def _lines(total: Callable[[], int | None], doing: Callable[[], str] | None) -> Progress:
    """Writes a line to standard error now and then."""
    due = time.monotonic() + PATIENCE_S

    def write(n: int) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + EVERY_S
        n_all = total()
        of = "" if n_all is None else f" of {n_all:,}"
        state = "" if doing is None else f": {doing()}"
        sys.stderr.write(f"scoring: {n:,}{of} samples{state}\n")
        sys.stderr.flush()

    return write
