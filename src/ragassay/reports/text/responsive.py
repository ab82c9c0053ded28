"""What the terminal shows, made for its width and its characters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

Subject = TypeVar("Subject")
Draw = Callable[[Subject, int, bool], Iterable[RenderableType]]
"""Draws a subject in so many columns of text; whether in ASCII only."""


def responsive(draw: Draw[Subject]) -> Callable[[Subject], RenderableType]:
    """Makes of a function that draws a subject one that gives something to print."""

    @wraps(draw)
    def view(subject: Subject) -> RenderableType:
        return _View(lambda width, plain: draw(subject, width, plain))

    return view


@dataclass(frozen=True)
class _View:
    draw: Callable[[int, bool], Iterable[RenderableType]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.draw(options.max_width, options.ascii_only)
