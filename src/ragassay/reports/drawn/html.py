"""A report as HTML: the cell of a notebook, and the parts of a page. In a table of numbers the
words stand in a line below each row, so that it is as wide as its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources

from ragassay.base import printable
from ragassay.reports.model import Block, Cell, Column, Lines, Part, Report, Row, Table
from ragassay.reports.text import wording

_OPEN = 3
"""Parts aside that are open when a page is."""


def cell_html(report: Report) -> str:
    """The cell of a notebook; its style comes with it, because a cell stands alone."""
    about = f", {escape(report.about)}" if report.about else ""
    title = f"<p><b>{escape(report.title)}</b>{about}</p>" if report.title else ""
    verdict = f"<p><b>{escape(report.verdict)}</b></p>" if report.verdict else ""
    blocks = [_block(block) for block in report.blocks]
    at = next((n for n, one in enumerate(report.blocks) if isinstance(one, Lines)), len(blocks))
    body = "\n".join([title, *blocks[:at], verdict, *blocks[at:]])
    # A notebook is a file, too, and its cells are printed to terminals (nbconvert, git diff).
    return printable.escaped(f'<style>{_style()}</style>\n<div class="ragassay">{body}</div>')


@cache
def _style() -> str:
    return (resources.files(__package__) / "cell_html.css").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Page:
    """The parts of a page: title, heading, links to sections by their ids, and sections, of which
    the last one stands below the list of samples."""

    title: str
    head: str
    sections: dict[str, str]
    body: str
    last: str


def page_of(report: Report) -> Page:
    """The parts of a page: those of the report are its sections, what comes before them stands in
    its heading."""
    parts = [one for one in report.blocks if isinstance(one, Part)]
    facts = "".join(
        f"<div><dt>{escape(one.label)}</dt><dd>{escape(one.text)}</dd></div>"
        for one in report.facts
        if one.text
    )
    verdict = f'<p class="verdict">{escape(report.verdict)}</p>' if report.verdict else ""
    above = "\n".join(_block(one) for one in report.blocks if not isinstance(one, Part))
    head = f'<h1>{escape(report.title)}</h1>\n{verdict}<dl class="facts">{facts}</dl>\n{above}'
    sections = {_id(one): one.title.text for one in parts}
    *body, last = map(_section, parts)
    return Page(report.title, head, sections, "\n".join(body), last)


def _id(part: Part) -> str:
    return re.sub(r"\W+", "-", part.title.text.casefold())


def _section(part: Part) -> str:
    name, blocks = _id(part), "\n".join(_blocks(part.blocks))
    title = f'<h2 id="{name}">{_text(part.title)}</h2>'
    return f'<section aria-labelledby="{name}">\n{title}\n{blocks}\n</section>'


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    n = 0
    for block in blocks:
        n += isinstance(block, Part)
        yield _block(block, is_open=n <= _OPEN)


def _block(block: Block, *, is_open: bool = True) -> str:
    if isinstance(block, Table):
        return _table(block) if block.rows else ""
    if isinstance(block, Lines):
        return _lines(block) if block.lines else ""
    title, blocks = f"<h3>{_text(block.title)}</h3>", "\n".join(_blocks(block.blocks))
    if not block.aside:
        return f"{title}\n{blocks}"
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{title}</summary>\n{blocks}\n</details>"


def _lines(block: Lines) -> str:
    if block.level == "figures":
        return f'<div class="cards">{"".join(map(_card, block.lines))}</div>'
    if block.level == "code":
        return "".join(f"<pre>{escape(line.text)}</pre>" for line in block.lines)
    role = ' role="note"' if block.level == "warning" else ""
    texts = "\n".join(f"<p>{_text(line)}</p>" for line in block.lines)
    return f'<div class="{block.level}"{role}>{texts}</div>'


def _card(cell: Cell) -> str:
    figure = cell.figure() if cell.figure is not None else ""
    name = f'<span class="metric">{_breakable(cell.text)}</span>{escape(cell.tail)}'
    below = "".join(f"<small>{escape(one)}</small>" for one in cell.below)
    return f"<figure><figcaption>{name}</figcaption>{figure}{below}</figure>"


def _table(table: Table) -> str:
    kinds = {one.kind for one in table.columns}
    columns = list(enumerate(table.columns))
    words = [at for at, one in columns if one.kind == "words" and "number" in kinds]
    under = {one.under: at for at, one in columns if one.under}
    shown = [at for at, one in columns if at not in words and not one.under]
    heads = "".join(_head(table.columns[at], under, table.columns) for at in shown)
    rows, group = [], ""
    for row in table.rows:
        if row.group != group:
            group = row.group
            title = f'<th scope="rowgroup" colspan="{len(shown)}">{escape(group)}</th>'
            rows.append(f'<tr class="family">{title}</tr>')
        first, *others = (_cell(row, at, table.columns, under) for at in shown)
        beside = "; ".join(_text(row.cells[at]) for at in words if row.cells[at].text)
        rows.append(f"<tr{' class=t' if beside else ''}>{first}{''.join(others)}</tr>")
        if beside:
            words_cell = f'<td colspan="{len(shown)}"><div>{beside}</div></td>'
            rows.append(f'<tr class="words">{words_cell}</tr>')
    head = f"<thead><tr>{heads}</tr></thead>" if any(one.head for one in table.columns) else ""
    label, body = escape(table.columns[0].head), "\n".join(rows)
    box = f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
    return f'{box}<table class="shown">{head}<tbody>{body}</tbody></table></div>'


def _head(column: Column, under: dict[str, int], columns: Sequence[Column]) -> str:
    first, *more = column.head.split("\n")
    if column.head in under:
        more.append(columns[under[column.head]].head)
    small = "".join(f"<small>{escape(one)}</small>" for one in more)
    number = ' class="n"' if column.kind == "number" else ""
    return f'<th scope="col"{number}>{escape(first)}{small}</th>'


def _cell(row: Row, at: int, columns: Sequence[Column], under: dict[str, int]) -> str:
    column, cell = columns[at], row.cells[at]
    inner = str(cell.figure()) if cell.figure is not None else ""
    inner += _text(cell, column)
    if column.head in under:
        small = row.cells[under[column.head]].text
        inner += f"<small>{escape(small)}</small>" if small else ""
    if at == 0:
        return f'<th scope="row">{inner}</th>'
    kind = {"number": ' class="n"', "label": ' class="nowrap"'}.get(column.kind, "")
    return f"<td{kind}>{inner}</td>"


def _text(cell: Cell, column: Column | None = None) -> str:
    name = column is not None and column.kind == "name"
    label = f"<b>{escape(cell.label)}</b>" if cell.label else ""
    text = _linked(_breakable(cell.text) if name else escape(cell.text), cell.link)
    style: str = cell.style or (column.style if column is not None else "")
    if name and column is not None and column.head.startswith("metric"):
        style = f"metric {style}".strip()
    if style:
        text = f'<span class="{style}">{text}</span>'
    tail = f'<span class="tail">{escape(cell.tail)}</span>' if cell.tail else ""
    return label + text + tail + "".join(f"<small>{escape(one)}</small>" for one in cell.below)


def _linked(text: str, link: str) -> str:
    kind, _, name = link.partition(":")
    if not link or kind not in ("filter", "sample"):
        return f'<a href="{escape(link)}">{text}</a>' if link else text
    return f'<a href="#browse" data-{kind}="{escape(name)}">{text}</a>'


def _breakable(name: str) -> str:
    """A metric's name that may break at its punctuation."""
    return "<wbr>".join(map(escape, wording.pieces(name)))
