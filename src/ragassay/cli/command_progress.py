"""How far long work is, on standard error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from ragassay.cli import interrupt
from ragassay.cli.global_options import GLOBAL_OPTIONS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PATIENCE_S = 2.0
"""Work that takes longer than this shows how far it is."""

EVERY_S = 30.0
"""Between two lines about long work, where there is no terminal."""


class ProgressBar:
    """A live bar of one line, once the work takes a while; called with the number of samples done.
    ``total`` is called when the bar is shown; without it the bar is a count. ``doing`` says what
    goes on between two samples: from the start, and now and then as a line where there is no
    terminal."""

    def __init__(
        self,
        label: str,
        total: Callable[[], int | None] = lambda: None,
        doing: Callable[[], str] | None = None,
    ) -> None:
        from ragassay.cli.console import console

        options, self._out = GLOBAL_OPTIONS.get(), console(stderr=True)
        shown, terminal = options.progress, self._out.is_terminal
        self._live = terminal and shown and not options.quiet
        self._says = not terminal and shown and doing is not None
        self._label, self._total, self._doing = label, total, doing
        self._bar: Progress | None = None
        self._begun = time.monotonic()
        self._starting, self._ended = threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        """Shows the bar at once or after a while: also before the first sample is done, which may
        take long."""
        if self._live or self._says:
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the bar."""
        with self._starting:
            self._ended.set()
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, n: int) -> None:
        """So many samples are done; a `KeyboardInterrupt` where the command was interrupted."""
        interrupt.check()
        elapsed = time.monotonic() - self._begun
        if self._live and elapsed > PATIENCE_S:
            self._show()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=n, rate=n / max(elapsed, 1e-3))

    def _show(self) -> None:
        with self._starting:
            if self._bar is None and not self._ended.is_set():
                bar = _rich_bar(self._out, self._doing)
                bar.add_task(self._label, total=self._total(), rate=0.0)
                bar.start()
                self._bar = bar

    def _watch(self) -> None:
        """Shows the bar in time; prints a line now and then where there is no terminal."""
        if self._live and not self._ended.wait(PATIENCE_S if self._doing is None else 0):
            self._show()
        while self._says and self._doing is not None and not self._ended.wait(EVERY_S):
            self._out.print(f"note: {self._doing()}", markup=False)


def _rich_bar(out: Console, doing: Callable[[], str] | None) -> Progress:
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class Doing(ProgressColumn):
        def render(self, task: object) -> Text:
            return Text("" if doing is None else doing())

    # The words take what is left of the line, so the rest is short where there are any.
    rate = ", {task.fields[rate]:,.0f}/s" if doing is None else ""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=40 if doing is None else 10),
        TextColumn("{task.completed:,.0f} samples" + rate),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        Doing(table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
        expand=doing is not None,
        console=out,
        transient=True,
    )
