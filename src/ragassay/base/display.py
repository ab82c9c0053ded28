"""How results show themselves: in print, in a notebook, as a picture.

The drawing itself is many floors above. Whoever is on top (`ragassay`) says where it is found, so
that nothing here or between knows of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Drawing(Protocol):
    """What draws; see `ragassay.reports`."""

    def text_of(self, shown: object) -> str:
        """What is printed."""

    def html_of(self, shown: object) -> str:
        """What a notebook's cell shows."""

    def plot_of(self, shown: Any, kind: str = ...) -> Any:
        """A picture."""

    def said(self, note: Any) -> str:
        """The sentence of a note."""


def _nowhere() -> Drawing:
    raise RuntimeError("nothing draws: import ragassay")


find: Callable[[], Drawing] = _nowhere


def found_by(finder: Callable[[], Drawing]) -> None:
    """Says where the drawing is.

    Args:
        finder: gives it; it is called when something is first shown.
    """
    global find
    find = finder


class Displayed:
    """What prints itself as the command line prints it, and what a notebook shows as HTML."""

    __slots__ = ()

    def __str__(self) -> str:
        return find().text_of(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return find().html_of(self)
