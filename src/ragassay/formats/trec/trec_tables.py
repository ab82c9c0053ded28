"""Tables of TREC files. polars reads a file at once; where that meets something unexpected the file
is read again line by line, which finds the faulty line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragassay.formats.format_words import wrong
from ragassay.formats.sources.opening import opened, placed, raw_lines, read_all

if TYPE_CHECKING:
    import polars as pl

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A number as these files write it."""
_WHOLE_NUMBER = re.compile(rb"[+-]?\d{1,15}(\.0*)?|[+-]?\d{1,18}")
_NO_NUMBER = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """The columns of a file. Those that begin with ``_`` are left out."""

    what: str  # what the file is called in messages
    columns: tuple[str, ...]
    number: str  # the column that holds numbers; the others are texts
    whole_numbers: bool
    separator: bytes | None = None  # any blanks where it is None
    header: bool = False  # whether the first line names the columns

    @property
    def results(self) -> list[str]:
        """The columns that are read into the result."""
        return [name for name in self.columns if not name.startswith("_")]


def read_table(path: Path, layout: Layout) -> pl.DataFrame:
    """A frame of the kept columns of a file, texts and the column of numbers, in the order of its
    lines. A file without lines, lines with other columns and numbers that are none are errors."""
    import polars as pl

    number = pl.Int64() if layout.whole_numbers else pl.Float64()
    frame = _read_at_once(path, layout, number)
    is_complete = frame is not None and not any(frame.null_count().row(0))
    if frame is not None and is_complete and frame[layout.number].is_finite().all():
        return frame
    rows: list[list[str | int | float]] = []
    for line, fields in fields_of(path, layout):
        with placed(path, line):
            rows.append(_checked_row(fields, layout))
    if not rows:
        raise wrong("no_lines", path=path, what=layout.what)
    types = {name: pl.String() for name in layout.results} | {layout.number: number}
    return pl.DataFrame(rows, schema=types, orient="row")


def _read_at_once(path: Path, layout: Layout, number: pl.DataType) -> pl.DataFrame | None:
    """The frame, or ``None`` where anything is unexpected."""
    import polars as pl

    text, separator = _tidy(read_all(path), layout)
    n_lines = text.count(b"\n") + (text[-1:] not in (b"", b"\n"))
    # A line with more columns shows here, unless another one has fewer, which gives nulls.
    if not n_lines or text.count(separator) != n_lines * (len(layout.columns) - 1):
        return None
    try:
        return pl.read_csv(
            text,
            separator=separator.decode(),
            has_header=False,
            skip_rows=int(layout.header),
            quote_char=None,
            columns=[at for at, name in enumerate(layout.columns) if name in layout.results],
            schema={
                name: number if name == layout.number else pl.String() for name in layout.columns
            },
        )
    except (pl.exceptions.PolarsError, OSError):  # polars takes a text from x^ on for compressed
        return None


def _separator(line: bytes, layout: Layout) -> bytes:
    """A tab where it separates all columns, or all have to be separated by it; else a space."""
    tabs = line.count(b"\t") == len(layout.columns) - 1
    return layout.separator or (b"\t" if tabs else b" ")


def _tidy(text: bytes, layout: Layout) -> tuple[bytes, bytes]:
    """The same lines with one separator, without comments and blank lines; and the separator."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = text.lstrip(b"\n")
    separator = _separator(text.split(b"\n", 1)[0], layout)
    if separator == b" ":
        text = text.translate(bytes.maketrans(b"\t\v\f", b"   "))
        while b"  " in text:
            text = text.replace(b"  ", b" ")
        text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    elif layout.separator is None and re.search(rb"\t | \t|(?m:^ | $)", text):
        text = re.sub(rb"(?m)^ +| +$| *(\t) *", rb"\1", text)
    if layout.separator is None and b"#" in text:
        text = re.sub(rb"(?m)^#.*(\n|\Z)", b"", text)
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.lstrip(b"\n"), separator


def fields_of(path: Path, layout: Layout) -> Iterator[tuple[int, list[bytes]]]:
    """The number and fields of each line, without comments, blank lines and the header."""
    number, header = 0, layout.header
    with opened(path) as stream:
        for raw in raw_lines(stream, path):
            for line in raw.splitlines():
                number += 1
                comment = layout.separator is None and line.lstrip().startswith(b"#")
                if not line.strip() or comment:
                    continue
                if header:
                    header = False
                else:
                    yield number, _split(line, layout)


def _split(line: bytes, layout: Layout) -> list[bytes]:
    """The fields of a line, without a comment behind them."""
    if (separator := _separator(line, layout)) == b"\t":
        fields = line.split(separator)
        return fields if layout.separator else [field.strip() for field in fields]
    fields = line.split()
    n = len(layout.columns)
    return fields[:n] if len(fields) > n and fields[n].startswith(b"#") else fields


def _checked_row(fields: list[bytes], layout: Layout) -> list[str | int | float]:
    """The kept fields of a line, which is checked."""
    names = ", ".join(name.lstrip("_") for name in layout.columns)
    if len(fields) != len(layout.columns):
        facts = {"what": layout.what, "wanted": len(layout.columns), "names": names}
        raise wrong("trec_columns", n=len(fields), **facts)
    row: list[str | int | float] = []
    for name, raw in zip(layout.columns, fields, strict=True):
        if name == layout.number:
            row.append(_number(raw, layout, names))
        elif not name.startswith("_"):
            if not raw:
                raise wrong("empty_field", field=name)
            row.append(raw.decode())
    return row


def _number(raw: bytes, layout: Layout, names: str) -> int | float:
    pattern = _WHOLE_NUMBER if layout.whole_numbers else NUMBER
    fits = pattern.fullmatch(raw)
    if fits and layout.whole_numbers:
        return int(raw.partition(b".")[0])
    if fits and np.isfinite(float(raw)):
        return float(raw)
    shown = raw.decode(errors="replace")
    if layout.whole_numbers and NUMBER.fullmatch(raw):
        raise wrong("broken_grade", field="grade", shown=shown)
    kind = "a finite number" if fits or _NO_NUMBER.fullmatch(raw) else "a number"
    kind = "a whole number" if layout.whole_numbers else kind
    raise wrong("no_number", field=layout.number, shown=shown, kind=kind, names=names)


def second_line(path: Path, layout: Layout, wanted: Mapping[str, str]) -> int | None:
    """The number of the second line with these values, by column; ``None`` where there is none."""
    values = {layout.columns.index(name): value.encode() for name, value in wanted.items()}
    found = (
        number
        for number, fields in fields_of(path, layout)
        if len(fields) > max(values) and values == {at: fields[at] for at in values}
    )
    return next(islice(found, 1, None), None)
