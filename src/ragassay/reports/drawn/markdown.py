"""A report as Markdown (GitHub's dialect)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragassay.reports.model import Block, Lines, Report, Table
from ragassay.reports.text import wording

_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MARKS = {"good": "✅ ", "bad": "❌ ", "doubt": "⚠ "}


def markdown(report: Report) -> str:
    """The report: title, verdict, warnings, then the other blocks."""
    pieces = [f"### {escape(report.title)}"] if report.title else []
    pieces += [f"{escape(report.about)}."] if report.about else []
    pieces += [f"**{escape(report.verdict)}**"] if report.verdict else []
    warnings = [
        block for block in report.blocks if isinstance(block, Lines) and block.level == "warning"
    ]
    others = [block for block in report.blocks if block not in warnings]
    pieces += [piece for block in (*warnings, *others) for piece in _block(block)]
    return "\n\n".join(pieces) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no end of a table cell, nobody mentioned."""
    plain = _SPECIAL.sub(r"\\\1", wording.one_line(text).translate(_ENTITIES))
    return _MENTION.sub("@\u200b", plain)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        if block.rows:
            yield _table(block)
    elif isinstance(block, Lines):
        texts = [escape(line.label + line.text + line.tail) for line in block.lines]
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
    else:
        title = escape(block.title.text)
        yield f"<details><summary>{title}</summary>" if block.aside else f"#### {title}"
        yield from (piece for value in block.blocks for piece in _block(value))
        if block.aside:
            yield "</details>"


def _table(table: Table) -> str:
    shown = [at for at, column in enumerate(table.columns) if column.kind != "figure"]
    heads = [escape(table.columns[at].head.replace("\n", ", ")) for at in shown]
    rows = [heads, ["---:" if table.columns[at].kind == "number" else ":---" for at in shown]]
    for row in table.rows:
        named = f"{row.group}: " if row.group else ""
        cells = [row.cells[at] for at in shown]
        marks = [_MARKS.get(cell.style, "") for cell in cells]
        texts = [escape(f"{cell.text}{cell.tail}") for cell in cells]
        rows.append([mark + text for mark, text in zip(marks, texts, strict=True)])
        rows[-1][0] = escape(named) + rows[-1][0]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
