"""A report as data: between what a result says and how it is drawn.

A view (`ragassay.reports.views`) makes a `Report` of a result: a title, a sentence, and blocks. The
terminal, Markdown, notebooks and pages draw blocks and know no metric (`ragassay.reports.drawn`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["", "strong", "dim", "good", "bad", "doubt", "info"]
Kind = Literal["name", "number", "label", "words", "figure"]
Level = Literal["text", "note", "warning", "code", "figures"]


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell or line.

    Attributes:
        text: plain, whatever characters it has.
        label: what it is, before it.
        tail: more of it, in dim print.
        style: of the text.
        figure: draws it as HTML; texts leave it out.
        share: in [0, 1]; the terminal draws it as a bar.
        below: further lines in small print.
        link: what it leads to on a page: an address, ``filter:NAME`` of the list of samples, or
            ``sample:NAME``.
    """

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
    """A column of a table.

    Attributes:
        head: its title.
        kind: a ``name`` breaks at its punctuation, a ``number`` and a ``label`` never, ``words`` at
            blanks; a ``figure`` is drawn as HTML, and where its cells have shares in the terminal.
        drop: where there is no room, the columns with the highest number are left out first, and a
            line says which numbers are; 0 always stays.
        style: of its cells that have none.
        under: the head of the column below whose cells HTML has these in small print.
    """

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


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences, one a line. Warnings say what a reader may conclude wrongly; ``figures`` stand
    beside each other on a page."""

    lines: tuple[Cell, ...]
    level: Level = "note"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a report under a title. Markdown folds it where it is an aside."""

    title: Cell
    blocks: tuple[Block, ...]
    aside: bool = False


Block = Table | Lines | Part


@dataclass(frozen=True, slots=True)
class Report:
    """What a result shows.

    Attributes:
        title: what it is of.
        about: more of the title: suite, system, size.
        verdict: the sentence to remember; empty for none.
        blocks: in order.
        facts: what a page has below the title, each with a label.
    """

    title: str
    blocks: tuple[Block, ...]
    about: str = ""
    verdict: str = ""
    facts: tuple[Cell, ...] = ()


def cell(content: Cell | str) -> Cell:
    """A cell; a text is a cell without style."""
    return content if isinstance(content, Cell) else Cell(content)


def part(title: Cell | str, *blocks: Block, aside: bool = False) -> Part:
    """A part, see `Part`."""
    return Part(cell(title), blocks, aside)


def table(columns: Iterable[Column], rows: Iterable[Sequence[Cell | str]]) -> Table:
    """A table of rows of cells or texts, without groups."""
    return Table(tuple(columns), tuple(Row(tuple(map(cell, row))) for row in rows))


def lines(texts: Iterable[Cell | str], level: Level = "note", style: Style = "") -> Lines:
    """Lines of texts."""
    return Lines(tuple(Cell(t, style=style) if isinstance(t, str) else t for t in texts), level)


def without_empty(full: Table) -> Table:
    """The table without the columns that hold nothing."""
    kept = [
        at
        for at in range(len(full.columns))
        if any(row.cells[at] != Cell(figure=row.cells[at].figure) for row in full.rows)
    ]
    rows = (Row(tuple(row.cells[at] for at in kept), row.group) for row in full.rows)
    return Table(tuple(full.columns[at] for at in kept), tuple(rows))
