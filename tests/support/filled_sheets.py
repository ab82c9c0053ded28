"""Sheets as a person's program reads and writes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl


def read(path: Path) -> list[list[str]]:
    rows = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
    return [["" if one is None else str(one) for one in row] for row in rows]


def write(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(list(row))
    book.save(path)


def filled(path: Path, **cells: dict[str, str]) -> None:
    """Fills cells in: for each item values by column."""
    head, *rows = read(path)
    for row in rows:
        for name, value in cells.get(row[0], {}).items():
            row[head.index(name)] = value
    write(path, [head, *rows])
