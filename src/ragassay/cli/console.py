"""Consoles: all that a command shows passes through one, except data on standard output; and the
options of every command that say how much is shown."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from ragassay.base import printable
from ragassay.cli import interrupt

EVERY_S = 30.0
"""Between two lines about long work, where there is no terminal."""


@dataclass(frozen=True)
class GlobalOptions:
    """Whether only errors, gates that did not pass and data are printed; whether bars are shown;
    whether an error is shown with its traceback."""

    quiet: bool = False
    progress: bool = True
    debug: bool = False


GLOBAL_OPTIONS: ContextVar[GlobalOptions] = ContextVar("global_options", default=GlobalOptions())  # noqa: B039


class HarmlessConsole(Console):
    """A console on which text cannot command the terminal; only rich's own styles do."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed, with visible marks in place of control characters."""
        for segment in super().render(renderable, options):
            text = segment.text
            if segment.control is None and not text.isprintable():
                segment = Segment(printable.lines(text), segment.style)
            yield segment

    def print(self, *objects: Any, **options: Any) -> None:
        """Where there is no terminal, without blanks at the ends of a table's lines, which disturb
        grep, and with question marks for characters that the encoding lacks."""
        if self.is_terminal or self.quiet:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
        self.file.write(text.encode(self.encoding, "replace").decode(self.encoding))
        self.file.flush()


def console(*, stderr: bool = False) -> Console:
    """A console that writes plain text when it is not a terminal, at a width that tables fit."""
    quiet = GLOBAL_OPTIONS.get().quiet
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else 120
    return HarmlessConsole(stderr=stderr, width=width, highlight=False, quiet=quiet)


@contextmanager
def progress_bar(
    label: str,
    total: Callable[[], int | None] = lambda: None,
    doing: Callable[[], str] | None = None,
) -> Iterator[Callable[[int], None]]:
    """A live bar of one line on standard error; gives what is called with the number of samples
    done, which raises `KeyboardInterrupt` where the command was interrupted. Without a ``total``
    the bar is a count. ``doing`` says what goes on between two samples; where there is no terminal,
    now and then as a line."""
    begun, ended = time.monotonic(), threading.Event()
    options, out = GLOBAL_OPTIONS.get(), console(stderr=True)
    bar = None
    if options.progress and not options.quiet:
        if out.is_terminal:
            bar = _rich_bar(out, doing)
            bar.add_task(label, total=total(), rate=0.0)
            bar.start()
        elif doing is not None:
            threading.Thread(target=_tell, args=(out, doing, ended), daemon=True).start()

    def advance(n: int) -> None:
        interrupt.check()
        if bar is not None:
            seconds = max(time.monotonic() - begun, 1e-3)
            bar.update(bar.task_ids[0], completed=n, rate=n / seconds)

    try:
        yield advance
    finally:
        ended.set()
        if bar is not None:
            bar.stop()


def _tell(out: Console, doing: Callable[[], str], ended: threading.Event) -> None:
    while not ended.wait(EVERY_S):
        out.print(f"note: {doing()}", markup=False)


def _rich_bar(out: Console, doing: Callable[[], str] | None) -> Any:
    from rich import progress
    from rich.table import Column
    from rich.text import Text

    class Doing(progress.ProgressColumn):
        def render(self, task: object) -> Text:
            return Text("" if doing is None else doing())

    # The words take what is left of the line, so the rest is short where there are any.
    rate = ", {task.fields[rate]:,.0f}/s" if doing is None else ""
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=40 if doing is None else 10),
        progress.TextColumn("{task.completed:,.0f} samples" + rate),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(),
        Doing(table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
        expand=doing is not None,
        console=out,
        transient=True,
    )
