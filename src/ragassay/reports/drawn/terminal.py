"""A report in the terminal: tables fit its width, in the characters and colours that it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from ragassay.base import printable
from ragassay.reports.model import Block, Cell, Column, Lines, Part, Report, Row, Table, lines

_STYLES = {"strong": "bold", "good": "green", "bad": "red", "doubt": "yellow", "info": "cyan"}
_LEVELS = {"note": ("", "dim"), "warning": ("⚠ ", "yellow"), "text": ("", "")}
"""The mark and the style of lines of each level."""

_ASCII = str.maketrans({"↑": "^", "↓": "v", "–": "-", "→": "->", "⚠": "!", "…": "...", "·": "|"})
_EDGES, _BETWEEN, _INDENT = 2, 2, 2
_LEAST_NAME, _LEAST_WORDS, _BAR_WIDTH = 8, 20, 12


@dataclass(frozen=True)
class Printed:
    """A report that rich can print."""

    report: Report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The title and the blocks; the verdict stands below the tables, where the eye ends."""
        pen, report = _Pen(options.max_width, options.ascii_only), self.report
        if report.title:
            about = report.about and f", {report.about}"
            yield Padding(pen.text(Cell(report.title, about, style="strong")), (1, 1, 0, 1))
        verdict = report.verdict and lines([report.verdict], "text", "strong")
        after_part = False
        for block in report.blocks:
            if after_part and isinstance(block, Lines) and block.lines:
                yield Text("")
            after_part = isinstance(block, Part)
            if verdict and isinstance(block, Lines) and block.level != "warning":
                yield from pen.block(verdict)
                verdict = ""
            yield from pen.block(block)
        yield Text("")


@dataclass(frozen=True)
class _Pen:
    """Draws in so many cells of width, in ASCII only or not."""

    width: int
    ascii: bool
    indent: int = 1

    def block(self, block: Block) -> Iterator[RenderableType]:
        """One block."""
        if isinstance(block, Table):
            yield from self._table(block) if block.rows else ()
        elif isinstance(block, Lines):
            mark, style = _LEVELS[block.level]
            for line in block.lines:
                text = self.text(replace(line, text=f"{mark}{line.text}"), style)
                yield Padding(text, (0, 1, 0, self.indent))
        else:
            if self.indent == 1:
                yield Text("")
            bold = "" if block.title.style else "bold"
            yield Padding(self.text(block.title, bold), (0, 1, 0, self.indent))
            deeper = replace(self, indent=self.indent + _INDENT)
            yield from (piece for value in block.blocks for piece in deeper.block(value))

    def text(self, cell: Cell, style: str = "") -> Text:
        """A cell that commands no terminal, in the terminal's characters; its line breaks stay."""
        text, own = Text(style=style), _STYLES.get(cell.style, cell.style)
        for piece, look in ((cell.label, "bold"), (cell.text, own), (cell.tail, "dim not bold")):
            safe = printable.lines(piece)
            text.append(safe.translate(_ASCII) if self.ascii else safe, look)
        return text

    def _table(self, table: Table) -> Iterator[RenderableType]:
        """The table; what may not be left out and does not fit is in further tables below."""
        names, *others = (
            _Drawn(column, [row.cells[at] for row in table.rows], self)
            for at, column in enumerate(table.columns)
            if column.kind != "figure" or any(row.cells[at].share is not None for row in table.rows)
        )
        space = self.width - self.indent - _EDGES - names.least
        while sum(c.taken for c in others) > space and (most := max(c.column.drop for c in others)):
            others.pop(max(at for at, c in enumerate(others) if c.column.drop == most))
        while others:
            fit = others[:]
            while len(fit) > 1 and sum(c.taken for c in fit) > space:
                fit.pop()
            room = space + names.least - sum(c.taken for c in fit)
            yield Padding(self._grid(table.rows, names, fit, room), (0, 0, 0, self.indent))
            others = others[len(fit) :]

    def _grid(
        self, rows: Sequence[Row], names: _Drawn, columns: Sequence[_Drawn], room: int
    ) -> RichTable:
        """These columns, which leave so much room for the names."""
        heads = any(drawn.column.head for drawn in (names, *columns))
        grid = RichTable(
            box=SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0),
            show_header=heads,
        )  # fmt: skip
        wide = min(names.full, max(room, names.least))
        spare = room - wide  # below 0, words take less: long ones are cut
        grid.add_column(names.title, width=wide, overflow="fold")
        for column in columns:
            kind, style, size = column.column.kind, column.column.style, column.least
            if kind == "words":
                size = min(column.full, max(_LEAST_NAME, column.least + spare))
                spare -= size - column.least
            grid.add_column(
                column.title, width=size, overflow="fold", no_wrap=kind != "words",
                justify="right" if kind == "number" else "left", style=_STYLES.get(style, style),
            )  # fmt: skip
        group = ""
        for at, row in enumerate(rows):
            if row.group != group:
                group = row.group
                grid.add_row(self.text(Cell(group), "italic dim"))
            grid.add_row(*(drawn.texts[at] for drawn in (names, *columns)))
        return grid


class _Drawn:
    """A column as the terminal has it: texts, least width that cuts nothing (``taken``: with the
    blanks before the next), full width."""

    def __init__(self, column: Column, cells: Sequence[Cell], pen: _Pen) -> None:
        self.column, self.title = column, pen.text(Cell(column.head))
        self.texts = []
        for cell in cells:
            first = pen.text(replace(cell, text=printable.one_line(cell.text)))
            if column.kind == "figure":
                full, rest = divmod(round((cell.share or 0.0) * _BAR_WIDTH * 8), 8)
                bar = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
                if pen.ascii:
                    bar = "#" * round(full + rest / 8)
                empty = "." if pen.ascii else "·"
                first = Text("" if cell.share is None else bar.ljust(_BAR_WIDTH, empty))
            below = (pen.text(Cell(printable.one_line(line)), "dim") for line in cell.below)
            self.texts.append(Text("\n").join([first, *below]))
        if column.kind == "number":
            # One under the other, whether or not a remark follows them.
            tails = [pen.text(Cell(cell.tail)).cell_len for cell in cells]
            for text, tail in zip(self.texts, tails, strict=True):
                text.append(" " * (max(tails) - tail))
        drawn = [line for item in (*self.texts, self.title) for line in item.plain.split("\n")]
        self.full = self.least = max(map(cell_len, drawn))
        if column.kind == "words":
            longest = max((cell_len(word) for line in drawn for word in line.split()), default=1)
            self.least = min(self.full, max(longest, _LEAST_WORDS))
        elif column.kind == "name":
            words = self.title.plain.split()
            enough = max(_LEAST_NAME, 3 * pen.width // 10, *map(cell_len, words))
            self.least = min(self.full, enough)
        self.taken = self.least + _BETWEEN
