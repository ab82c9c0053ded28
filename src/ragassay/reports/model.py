"""A report as data: between what a result says and how it is drawn.

A view (`ragassay.reports.views`) makes a `Report` of a result: a title, a sentence, and blocks. The
terminal, Markdown, notebooks and pages draw blocks and know no metric (`ragassay.reports.drawn`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Literal

Style = Literal["", "strong", "dim", "good", "bad", "doubt", "info"]
Kind = Literal["name", "number", "label", "words", "figure"]
Level = Literal["text", "note", "warning", "code", "figures"]


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of a cell or line: a plain text with a label before and a tail after it, and
    lines in small print below. HTML draws ``figure``, the terminal ``share`` (in [0, 1]) as a bar.
    ``link`` is an address, or ``filter:NAME`` of a page's list of samples."""

    text: str = ""
    tail: str = ""
    label: str = ""
    style: Style = ""
    figure: Callable[[], Any] | None = None
    share: float | None = None
    below: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. A ``name`` breaks at its punctuation, a ``number`` and a ``label`` never,
    ``words`` at blanks; a ``figure`` is for HTML, and where its cells have shares for the terminal.

    Where there is no room, columns with the highest ``drop`` are left out first (0 never).
    ``under`` is the head of the column below whose cells HTML has these in small print. ``style``
    is of cells that have none."""

    head: str
    kind: Kind = "number"
    drop: int = 0
    style: Style = ""
    under: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: a cell for each column, and the heading of its group."""

    cells: tuple[Cell, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def without_empty(self) -> Table:
        """The table without the columns that hold nothing."""
        kept = [
            at
            for at in range(len(self.columns))
            if any(row.cells[at] != Cell(figure=row.cells[at].figure) for row in self.rows)
        ]
        rows = (Row(tuple(row.cells[at] for at in kept), row.group) for row in self.rows)
        return Table(tuple(self.columns[at] for at in kept), tuple(rows))


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences, one a line; ``figures`` are beside each other on a page."""

    lines: tuple[Cell, ...]
    level: Level = "note"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a report under a title. Pages and Markdown fold an aside."""

    title: Cell
    blocks: tuple[Block, ...]
    aside: bool = False


Block = Table | Lines | Part


@dataclass(frozen=True, slots=True)
class Report:
    """What a result shows: a title (``about``: suite, system, size), a ``verdict``, and blocks."""

    title: str
    blocks: tuple[Block, ...]
    about: str = ""
    verdict: str = ""

    def titled(self, title: str | None) -> Report:
        """The report under a title, its own before what it is about; itself where there is none."""
        about = ", ".join(filter(None, (self.title, self.about)))
        return replace(self, title=title, about=about) if title else self


def part(title: Cell | str, *blocks: Block, aside: bool = False) -> Part:
    """A part, see `Part`."""
    return Part(Cell(title) if isinstance(title, str) else title, blocks, aside)


def table(columns: Iterable[Column], rows: Iterable[Sequence[Cell | str]]) -> Table:
    """A table of rows of cells or texts, without groups, and without small print of no value."""
    heads, every = [*columns], [*rows]
    says = [not head.under or any(row[at] != "–" for row in every) for at, head in enumerate(heads)]
    cells = ([Cell(x) if isinstance(x, str) else x for x in compress(row, says)] for row in every)
    return Table(tuple(compress(heads, says)), tuple(Row(tuple(row)) for row in cells))


def lines(texts: Iterable[Cell | str], level: Level = "note", style: Style = "") -> Lines:
    """Lines of texts."""
    return Lines(tuple(Cell(t, style=style) if isinstance(t, str) else t for t in texts), level)
