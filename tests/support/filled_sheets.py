"""Sheets (CSV, XLSX) as a person's program reads and writes them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl

KINDS = [".csv", ".xlsx"]


def read(path: Path) -> list[list[str]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return list(csv.reader(stream))
    rows = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
    return [["" if one is None else str(one) for one in row] for row in rows]


def write(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8-sig", newline="") as stream:
            csv.writer(stream).writerows(rows)
        return
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(list(row))
    book.save(path)
