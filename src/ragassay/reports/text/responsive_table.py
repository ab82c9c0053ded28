"""Tables and names that fit the terminal's width, in the characters that it has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ragassay.reports.text import wording

_EDGES, _BETWEEN = 2, 2
_LEAST_NAME = 8

Subject = TypeVar("Subject")
Draw = Callable[[Subject, int, bool], Iterable[RenderableType]]
"""Draws a subject in so many columns of text; whether in ASCII only."""


def responsive(draw: Draw[Subject]) -> Callable[[Subject], RenderableType]:
    """Turns a function that draws a subject into one that returns something to print."""

    @wraps(draw)
    def view(subject: Subject) -> RenderableType:
        return _View(lambda width, plain: draw(subject, width, plain))

    return view


@dataclass(frozen=True)
class _View:
    draw: Callable[[int, bool], Iterable[RenderableType]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.draw(options.max_width, options.ascii_only)


@dataclass(frozen=True)
class Name:
    """A name in a table's cell: it breaks at its punctuation, inside a word only where it must."""

    text: Text

    @property
    def least(self) -> int:
        """The least width, in cells, at which no word is broken."""
        return max(cell_len(piece.rstrip()) for piece in wording.pieces(self.text.plain))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _broken(self.text, options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.text)


def ruled(first: str = "", *numbers: str) -> Table:
    """An empty table with a line below its heads.

    Args:
        first: head of the first column, which is broken where it is too wide; none where empty.
        numbers: heads of the columns after it, which are aligned right and never broken.
    """
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    if first:
        table.add_column(first, overflow="fold")
    for head in numbers:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def table_width(columns: Iterable[int]) -> int:
    """The width of a table of `ruled` beside its first column, in cells, from the widths of its
    other columns."""
    return _EDGES + sum(width + _BETWEEN for width in columns)


def fit_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    drop: Sequence[Collection[str]],
    words: str = "",
    plain: bool = False,
) -> tuple[Table, list[str]]:
    """The table in at most ``width`` columns of text, and the heads of the columns for which there
    was no room. Names break at their punctuation.

    Args:
        heads: the first is that of the names, all others but ``words`` of numbers. A number may
            be followed by a remark in brackets.
        rows: cells, one for each head.
        width: of the terminal, in cells.
        drop: groups of columns that are left out where there is no room, in this order.
        words: the head of a column of words, which break where they must.
        plain: whether dashes must be ASCII.
    """
    columns = {head: [wording.one_line(row[at]) for row in rows] for at, head in enumerate(heads)}
    names = columns.pop(heads[0])
    widest = max(map(cell_len, [heads[0], *names]))
    # Names are shown whole in up to a third of the width; the head over them may break between its
    # words.
    least = min(max(map(cell_len, names)), max(_LEAST_NAME, width // 3))
    least = max(least, Name(Text(heads[0])).least)
    cells = {head: _aligned(texts, plain) for head, texts in columns.items() if head != words}
    sizes = {head: max(map(cell_len, [head, *texts])) for head, texts in cells.items()}
    if words in columns:
        broken = [word for cell in [words, *columns[words]] for word in cell.split()]
        cells[words], sizes[words] = columns[words], max(map(cell_len, broken))
    left_out: list[str] = []
    for group in [(), *drop]:
        left_out += [head for head in columns if head in group]
        shown = [head for head in columns if head not in left_out]
        room = width - table_width(sizes[head] for head in shown)
        if room >= least:
            break
    wide = min(widest, max(room, 1))
    if words in shown:
        full = max(map(cell_len, [words, *columns[words]]))
        sizes[words] = min(full, sizes[words] + max(0, room - wide))
    table = ruled()
    table.add_column(_broken(Text(heads[0]), wide), width=wide, no_wrap=True, overflow="fold")
    for head in shown:
        is_words = head == words
        table.add_column(
            head if is_words else head.rjust(sizes[head]),
            width=sizes[head],
            no_wrap=not is_words,
            overflow="fold",
            style="dim" if is_words else "",
        )
    for at, name in enumerate(names):
        line = (cells[head][at].rjust(0 if head == words else sizes[head]) for head in shown)
        table.add_row(_broken(Text(name), wide), *map(Text, line))
    return table, left_out


def _aligned(cells: Sequence[str], plain: bool) -> list[str]:
    """Numbers one under the other, whether or not a remark in brackets follows them."""
    pieces = [cell.partition(" (") for cell in cells]
    remark = max((cell_len(mark + tail) for _, mark, tail in pieces), default=0)
    aligned = []
    for number, mark, tail in pieces:
        shown = "-" if plain and number == wording.NOTHING else number
        aligned.append(shown + (mark + tail).ljust(remark))
    return aligned


def _cut(piece: str, width: int) -> Iterator[str]:
    """A piece of a name in parts that are no wider than so many cells, cut at hyphens and colons
    where it has some."""
    while cell_len(piece.rstrip()) > width:
        most = len(piece)
        while most > 1 and cell_len(piece[:most]) > width:
            most -= 1
        at = max(piece.rfind(mark, 0, most) for mark in "-:") + 1 or most
        yield piece[:at]
        piece = piece[at:]
    yield piece


def _broken(name: Text, width: int) -> Text:
    """A name in lines that break at its punctuation, inside a word only where they must."""
    breaks, line, at = [], "", 0
    for piece in (part for one in wording.pieces(name.plain) for part in _cut(one, width)):
        if line and cell_len(line + piece.rstrip()) > width:
            breaks.append(at)
            line = ""
        line += piece
        at += len(piece)
    lines = name.divide(breaks)
    for one in lines:
        one.rstrip()
    return Text("\n").join(lines)
