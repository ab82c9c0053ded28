"""Consoles: all that a command shows passes through one, except data on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from ragassay.base import printable
from ragassay.cli.global_options import GLOBAL_OPTIONS


class HarmlessConsole(Console):
    """A console on which text cannot command the terminal; only rich's own styles do."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed, with visible marks in place of control characters."""
        for segment in super().render(renderable, options):
            text = segment.text
            if segment.control is None and not text.isprintable():
                segment = Segment(printable.lines(text), segment.style)
            yield segment


def console(*, stderr: bool = False) -> Console:
    """A console that writes plain text when it is not a terminal, at a width that tables fit."""
    stream = sys.stderr if stderr else sys.stdout
    quiet = GLOBAL_OPTIONS.get().quiet
    if stream.isatty():
        return HarmlessConsole(stderr=stderr, highlight=False, quiet=quiet)
    width = None if "COLUMNS" in os.environ else 120
    trimmed = cast(TextIO, _Trimmed(stream))
    return HarmlessConsole(file=trimmed, width=width, highlight=False, quiet=quiet)


class _Trimmed:
    """A stream that drops the blanks at the ends of a table's lines, because they disturb grep, and
    writes question marks for characters that its encoding does not have."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._pending = ""

    def write(self, text: str) -> int:
        possible = text.encode(self.encoding, "replace").decode(self.encoding)
        *lines, self._pending = (self._pending + possible).split("\n")
        self._stream.writelines(f"{line.rstrip()}\n" for line in lines)
        return len(text)

    @property
    def encoding(self) -> str:
        """The stream's own, by which tables know whether it can take their lines and arrows."""
        return self._stream.encoding or "utf-8"

    def flush(self) -> None:
        self._stream.write(self._pending)
        self._pending = ""
        self._stream.flush()
