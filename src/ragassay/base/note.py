"""Facts that a result has to say beside its numbers, whose words are in
``reports/text/note_words.yaml``; and how results show themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from ragassay.base.printable import grouped


class Drawing(Protocol):
    """What draws results; see `ragassay.reports`."""

    def text_of(self, shown: object) -> str:
        """What is printed."""

    def html_of(self, shown: object) -> str:
        """What a notebook's cell shows."""

    def plot_of(self, shown: Any, kind: str = ...) -> Any:
        """A picture."""

    def said(self, note: Any) -> str:
        """The sentence of a note."""

    def write_reports(self, result: Any, folder: Any, *, title: str | None) -> Any:
        """Writes the reports of a result into a folder."""

    def write_comparison(self, comparison: Any, path: Any, title: str | None) -> None:
        """Writes a comparison in the form that the file's suffix names."""


_drawings: list[Callable[[], Drawing]] = []


def draw_by(find: Callable[[], Drawing]) -> None:
    """Says where the drawing is, which no layer down here may import."""
    _drawings.append(find)


def drawing() -> Drawing:
    """What draws results."""
    return _drawings[-1]()


class Displayed:
    """What prints itself as the command line prints it, and what a notebook shows as HTML."""

    __slots__ = ()

    def __str__(self) -> str:
        return drawing().text_of(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return drawing().html_of(self)


Severity = Literal["headline", "warning", "note", "detail"]
"""``headline``: it is said beside the result itself. ``warning``: a reader may conclude wrongly
without it. ``note``: it is shown below a result. ``detail``: it is shown with everything."""


@dataclass(frozen=True, slots=True)
class Note:
    """One fact: ``kind`` names its sentence in the file of words, ``counts`` are the numbers and
    short values in it by name, ``names`` the metrics, systems or queries that it is about."""

    kind: str
    counts: Mapping[str, float | str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    severity: Severity = "note"

    def __str__(self) -> str:
        """Its sentence."""
        return drawing().said(self)


def joined(notes: Iterable[Note]) -> list[Note]:
    """The notes, those of one fact about several names as one."""
    by_fact = grouped(
        ((note.kind, tuple(note.counts.items()), note.severity), note) for note in notes
    )
    return [
        replace(same[0], names=tuple(dict.fromkeys(name for note in same for name in note.names)))
        for same in by_fact.values()
    ]
