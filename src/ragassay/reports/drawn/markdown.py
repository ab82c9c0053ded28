"""A report as Markdown (GitHub's dialect)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragassay.reports.model import Block, Cell, Lines, Report, Table
from ragassay.reports.text import wording

_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MARKS = {"good": "✅ ", "bad": "❌ ", "doubt": "⚠ "}


def markdown(report: Report) -> str:
    """The report: title, verdict, warnings, then the other blocks; notes are folded but for the
    first."""
    pieces = [f"### {escape(report.title)}"] if report.title else []
    pieces += [f"{escape(report.about)}."] if report.about else []
    pieces += [f"**{escape(report.verdict)}**"] if report.verdict else []
    blocks = sorted(report.blocks, key=lambda one: not _warns(one))
    pieces += [piece for block in blocks for piece in _block(block)]
    return "\n\n".join(pieces) + "\n"


def _warns(block: Block) -> bool:
    return isinstance(block, Lines) and block.level == "warning"


def escape(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no end of a table cell, nobody mentioned."""
    plain = _SPECIAL.sub(r"\\\1", wording.one_line(text).translate(_ENTITIES))
    return _MENTION.sub("@\u200b", plain)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        if block.rows:
            yield _table(block)
    elif isinstance(block, Lines):
        yield from _lines(block)
    elif block.aside:
        yield f"<details><summary>{_line(block.title)}</summary>"
        yield from (piece for one in block.blocks for piece in _block(one))
        yield "</details>"
    else:
        yield f"#### {_line(block.title)}"
        yield from (piece for one in block.blocks for piece in _block(one))


def _lines(block: Lines) -> Iterator[str]:
    texts = [_line(line) for line in block.lines]
    if block.level == "warning":
        yield from (f"> ⚠ {text}" for text in texts)
    elif block.level == "text":
        yield from texts
    elif texts:
        yield texts[0]
        if texts[1:]:
            yield "<details><summary>How this was computed</summary>"
            yield "\n".join(f"- {text}" for text in texts[1:])
            yield "</details>"


def _line(cell: Cell) -> str:
    return escape(cell.label + cell.text + cell.tail)


def _table(table: Table) -> str:
    shown = [at for at, one in enumerate(table.columns) if one.kind != "figure"]
    heads = [escape(table.columns[at].head.replace("\n", ", ")) for at in shown]
    align = ["---:" if table.columns[at].kind == "number" else ":---" for at in shown]
    rows = (
        [_cell(row.cells[at], row.group if at == 0 else "") for at in shown] for row in table.rows
    )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, align, *rows))


def _cell(cell: Cell, group: str) -> str:
    named = f"{group}: " if group else ""
    return _MARKS.get(cell.style, "") + escape(f"{named}{cell.text}{cell.tail}")
