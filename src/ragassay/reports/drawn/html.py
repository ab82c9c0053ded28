"""A report as HTML: the cell of a notebook, and the parts of a page. In a table of numbers the
words stand in a line below each row, so that it is as wide as its numbers."""

from __future__ import annotations

import re
from html import escape
from importlib import resources
from typing import Any

from ragassay.base import printable
from ragassay.reports.model import Block, Cell, Column, Lines, Part, Report, Table
from ragassay.reports.text import wording


def cell_html(report: Report) -> str:
    """The cell of a notebook; its style comes with it, because a cell is shown alone."""
    about = f", {escape(report.about)}" if report.about else ""
    title = f"<p><b>{escape(report.title)}</b>{about}</p>" if report.title else ""
    verdict = f"<p><b>{escape(report.verdict)}</b></p>" if report.verdict else ""
    blocks = [_block(block) for block in report.blocks]
    at = next((n for n, block in enumerate(report.blocks) if isinstance(block, Lines)), len(blocks))
    body = "\n".join([title, *blocks[:at], verdict, *blocks[at:]])
    style = (resources.files(__package__) / "cell_html.css").read_text(encoding="utf-8").strip()
    # A notebook is a file, too, and its cells are printed to terminals (nbconvert, git diff).
    return printable.escaped(f'<style>{style}</style>\n<div class="ragassay">{body}</div>')


def page_of(report: Report) -> dict[str, Any]:
    """The parts of a page: title, head, titles of sections by their ids, body, and the asides,
    which are folded below the list of samples, in the same form."""
    about = f'<p class="about">{escape(report.about)}</p>' if report.about else ""
    verdict = f'<p class="verdict">{escape(report.verdict)}</p>' if report.verdict else ""
    above = "\n".join(_block(block) for block in report.blocks if not isinstance(block, Part))
    head = f"<h1>{escape(report.title)}</h1>\n{about}{verdict}\n{above}"
    page: dict[str, Any] = {"title": report.title, "head": head}
    for aside, (titles, content) in enumerate((("sections", "body"), ("asides", "last"))):
        parts = [
            block
            for block in report.blocks
            if isinstance(block, Part) and block.aside == bool(aside)
        ]
        page[titles] = {_id(part): part.title.text for part in parts}
        page[content] = "\n".join(map(_section, parts))
    return page


def _id(section: Part) -> str:
    return re.sub(r"\W+", "-", section.title.text.casefold())


def _section(section: Part) -> str:
    """A part of a page; its address opens it where it is folded."""
    name, title = _id(section), _text(section.title)
    blocks = "\n".join(map(_block, section.blocks))
    if section.aside:
        summary = f"<summary><h2>{title}</h2></summary>"
        return f'<section><details>{summary}\n<div id="{name}">{blocks}</div></details></section>'
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{title}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    """A block; asides can be folded, and are where they hold no table."""
    if isinstance(block, Table):
        return _table(block) if block.rows else ""
    if isinstance(block, Lines):
        return _lines(block) if block.lines else ""
    title, blocks = f"<h3>{_text(block.title)}</h3>", "\n".join(map(_block, block.blocks))
    if not block.aside:
        return f"{title}\n{blocks}"
    opened = " open" if any(isinstance(value, Table) for value in block.blocks) else ""
    return f"<details{opened}><summary>{title}</summary>\n{blocks}\n</details>"


def _lines(block: Lines) -> str:
    if block.level == "code":
        return "".join(f"<pre>{escape(line.text)}</pre>" for line in block.lines)
    if block.level == "figures":
        cards = []
        for cell in block.lines:
            name = f'<span class="metric">{_breakable(cell.text)}</span>{escape(cell.tail)}'
            figure = cell.figure() if cell.figure is not None else ""
            below = "".join(f"<small>{escape(text)}</small>" for text in cell.below)
            cards.append(f"<figure><figcaption>{name}</figcaption>{figure}{below}</figure>")
        return f'<div class="cards">{"".join(cards)}</div>'
    role = ' role="note"' if block.level == "warning" else ""
    texts = "\n".join(f"<p>{_text(line)}</p>" for line in block.lines)
    return f'<div class="{block.level}"{role}>{texts}</div>'


_CLASSES = {"number": ' class="n"', "label": ' class="nowrap"', "figure": ' class="drawn"'}
"""The attribute of cells, by the kind of their column."""


def _table(table: Table) -> str:
    columns = table.columns
    numbers = any(column.kind == "number" for column in columns)
    words = [at for at, column in enumerate(columns) if column.kind == "words" and numbers]
    under = {column.under: at for at, column in enumerate(columns) if column.under}
    shown = [at for at, column in enumerate(columns) if at not in words and not column.under]
    heads, rows, group = [], [], ""
    # On a phone, a cell of a wide table stands below the name of its column.
    wide = sum(columns[at].kind != "figure" for at in shown) > 3
    for at in shown:
        first, *more = columns[at].head.split("\n")
        if first in under:
            more.append(columns[under[first]].head)
        small = "".join(f"<small>{escape(text)}</small>" for text in more)
        heads.append(
            f'<th scope="col"{_CLASSES.get(columns[at].kind, "")}>{escape(first)}{small}</th>'
        )
    for row in table.rows:
        if row.group != group:
            group = row.group
            title = f'<th scope="rowgroup" colspan="{len(shown)}">{escape(group)}</th>'
            rows.append(f'<tr class="family">{title}</tr>')
        cells = []
        for at in shown:
            small = row.cells[under[columns[at].head]].text if columns[at].head in under else ""
            inner = _text(row.cells[at], columns[at])
            inner += f"<small>{escape(small)}</small>" if small else ""
            kind = _CLASSES.get(columns[at].kind, "")
            if wide:
                kind += f' data-name="{escape(", ".join(columns[at].head.split(chr(10))))}"'
            cells.append(f"<td{kind}>{inner}</td>" if at else f'<th scope="row">{inner}</th>')
        beside = "; ".join(_text(row.cells[at]) for at in words if row.cells[at].text)
        rows.append(f"<tr{' class=t' if beside else ''}>{''.join(cells)}</tr>")
        if beside:
            words_cell = f'<td colspan="{len(shown)}"><div>{beside}</div></td>'
            rows.append(f'<tr class="words">{words_cell}</tr>')
    head = (
        f"<thead><tr>{''.join(heads)}</tr></thead>"
        if any(column.head for column in columns)
        else ""
    )
    label, body = escape(columns[0].head), "\n".join(rows)
    box = f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
    kinds = "shown wide" if wide else "shown"
    return f'{box}<table class="{kinds}">{head}<tbody>{body}</tbody></table></div>'


def _text(cell: Cell, column: Column | None = None) -> str:
    """A cell: its figure, label, text (a link where it has one), tail and further lines."""
    figure = str(cell.figure()) if cell.figure is not None else ""
    label = f"<b>{escape(cell.label)}</b>" if cell.label else ""
    name = column is not None and column.kind == "name"
    text = _breakable(cell.text) if name else escape(cell.text)
    kind, _, of = cell.link.partition(":")
    if kind == "filter":
        text = f'<a href="#browse" data-filter="{escape(of)}">{text}</a>'
    elif cell.link:
        text = f'<a href="{escape(cell.link)}">{text}</a>'
    style: str = cell.style or (column.style if column is not None else "")
    if name and column is not None and column.head.startswith("metric"):
        style = f"metric {style}".strip()
    if style:
        text = f'<span class="{style}">{text}</span>'
    tail = f'<span class="tail">{escape(cell.tail)}</span>' if cell.tail else ""
    below = "".join(f"<small>{escape(word)}</small>" for word in cell.below)
    return figure + label + text + tail + below


def _breakable(name: str) -> str:
    """A metric's name that may break at its punctuation and blanks."""
    pieces = re.split(r"(?<=[.,=_/ ])|(?=[@(])", wording.one_line(name))
    return "<wbr>".join(map(escape, pieces))
