"""A report as the HTML of a notebook's cell: small, without scripts, in the notebook's colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib import resources

from ragassay.base import printable
from ragassay.reports.model import Block, Cell, Column, Lines, Report, Table


def cell_html(report: Report) -> str:
    """The report; its style comes with it, because a cell stands alone."""
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


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block) if block.rows else ""
    if isinstance(block, Lines):
        return "\n".join(f'<p class="{block.level}">{_text(line)}</p>' for line in block.lines)
    return "\n".join([f"<p><b>{_text(block.title)}</b></p>", *map(_block, block.blocks)])


def _table(table: Table) -> str:
    """A table; where it has numbers, its words stand in a line below each row."""
    kinds = {one.kind for one in table.columns}
    aside = "words" if "number" in kinds else ""
    shown = [at for at, one in enumerate(table.columns) if one.kind != aside]
    heads = "".join(f"<th>{escape(table.columns[at].head)}</th>" for at in shown)
    rows: list[str] = []
    for row in table.rows:
        first, *others = (_cell(row.cells[at], table.columns[at]) for at in shown)
        beside = "; ".join(_beside(row.cells, table.columns, aside))
        rows.append(f"<tr{' class=t' if beside else ''}><th>{first}</th>{''.join(others)}</tr>")
        if beside:
            rows.append(f'<tr><td class="w" colspan="{len(shown)}"><div>{beside}</div></td></tr>')
    head = f"<thead><tr>{heads}</tr></thead>" if any(one.head for one in table.columns) else ""
    return f'<div class="x"><table>{head}<tbody>{"".join(rows)}</tbody></table></div>'


def _beside(cells: Sequence[Cell], columns: Sequence[Column], kind: str) -> Iterator[str]:
    for cell, column in zip(cells, columns, strict=True):
        if column.kind == kind and cell.text:
            yield _text(cell)


def _cell(cell: Cell, column: Column) -> str:
    inner = str(cell.figure()) if cell.figure is not None else _text(cell)
    if column.kind == "name":
        return inner
    style = f"{column.style} {'l' if column.kind in ('label', 'words') else ''}".strip()
    return f'<td class="{style}">{inner}</td>' if style else f"<td>{inner}</td>"


def _text(cell: Cell) -> str:
    label = f"<b>{escape(cell.label)}</b>" if cell.label else ""
    text = escape(cell.text)
    if cell.style:
        text = f'<span class="{cell.style}">{text}</span>'
    tail = f"<small>{escape(cell.tail)}</small>" if cell.tail else ""
    return label + text + tail + "".join(f"<br><small>{escape(one)}</small>" for one in cell.below)
