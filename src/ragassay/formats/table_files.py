"""Tables with known column names: CSV and tab-separated text, Parquet in slices that fit in memory,
data sets that Hugging Face ``datasets`` saved with ``save_to_disk`` (folders of Arrow files), and
Excel workbooks, read row by row (extra ``excel``)."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, time
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, TypeVar, cast
from xml.etree import ElementTree

from ragassay.base.errors import RagassayError, did_you_mean, extra_needed
from ragassay.base.sample import Sample
from ragassay.formats import frames
from ragassay.formats.format import CONTAINER, NO, SURE, Format, Head, by_container
from ragassay.formats.format_words import wrong
from ragassay.formats.frames import plain
from ragassay.formats.records.field_names import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, opening
from ragassay.formats.sources.json_files import whole_object
from ragassay.formats.sources.opening import placed

_SLICE = 4096
_STATE, _SPLITS = "state.json", "dataset_dict.json"

Rows = Iterator[tuple[int, dict[str, Any]]]


def _text_rows(path: Path, mapper: Mapper) -> Rows:
    for line, row in delimited.rows(path, mapper.encoding, mapper.delimiter):
        yield line, cast("dict[str, Any]", row)


def parquet_rows(path: Path, mapper: Mapper | None = None) -> Rows:
    """Each row with its number, in slices that fit in memory."""
    import polars as pl

    with opening.by_polars(path, "Parquet"):
        scanned = pl.scan_parquet(opening.on_disk(path), glob=False)
        n_rows = int(scanned.select(pl.len()).collect().item())
        for start in range(0, n_rows, _SLICE):
            yield from cast(Rows, frames.rows(scanned.slice(start, _SLICE), start + 1))


def _arrow_rows(path: Path, mapper: Mapper) -> Rows:
    """The rows of a saved data set; of one with splits, those of `chosen_split`."""
    import polars as pl

    if (path / _SPLITS).is_file():
        listed = whole_object(path / _SPLITS).get("splits")
        splits = listed if isinstance(listed, list) else []
        names = [split for split in splits if isinstance(split, str) and Path(split).name == split]
        path = path / chosen_split(names, path, mapper)
    listed = whole_object(path / _STATE).get("_data_files")
    files: list[Any] = [item.get("filename") for item in listed or () if isinstance(item, dict)]
    if not files or not all(isinstance(name, str) and Path(name).name == name for name in files):
        raise wrong("no_data_files", path=path / _STATE, field="_data_files")
    before = 0
    for name in files:
        with opening.by_polars(path / name, "Arrow"):
            frame = pl.read_ipc_stream(path / name)
        yield from cast(Rows, frames.rows(frame, before + 1))
        before += frame.height


def chosen_split(names: Collection[str], path: Path | None, mapper: Mapper) -> str:
    """The split that is read of a data set (at a path, or in memory): the only one, or ``test``; a
    note says so. Where there are several, and none is ``test``, that is an error."""
    if len(names) == 1:
        return next(iter(names))
    if "test" in names:
        mapper.tell("splits", others=", ".join(name for name in names if name != "test"))
        return "test"
    first = next(iter(names), "NAME")
    how = f"Name one of them: {path / first}." if path else f"Give one: data[{first!r}]."
    raise wrong("several_splits", path=path, names=", ".join(names) or "(none)", how=how)


def _reader(rows: Callable[[Path, Mapper], Rows]) -> Callable[[Path, Mapper], Iterator[Sample]]:
    def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
        mapper.cells = True
        for line, row in rows(path, mapper):
            yield mapper.sample(row, line)

    return read


def _is_table(head: Head) -> int:
    fits = head.suffix == ".csv" or any(folded(name) in FIELD_OF for name in head.columns)
    return CONTAINER if fits else NO


def _is_tsv(head: Head) -> int:
    return _is_table(head) if b"\t" in head.start.split(b"\n", 1)[0] else NO


def _is_data_set(head: Head) -> int:
    is_whole = {_STATE, "dataset_info.json"} <= {*head.columns}
    return SURE if is_whole or _SPLITS in head.columns else NO


_PARQUET = "Parquet with known column names"
_CSV = "CSV with a header (comma, semicolon or bar) and known column names"
_TSV = "Tab-separated text with a header and known column names"
_DATA_SET = "Hugging Face data set saved with save_to_disk (folder)"

_SHOWN = 120
"""Characters of what the library says."""

_READ = ("worksheet+xml", "styles+xml")
"""Ends of the kinds of parts that openpyxl reads without, as if they were empty."""

T = TypeVar("T")


def load_workbook(path: Path, *, values: bool) -> Any:
    """An openpyxl workbook, to be read row by row within `guarded_rows`."""
    with extra_needed("To read XLSX, install the extra 'excel'", "excel"):
        import openpyxl
    with opening.opened(path):
        pass  # says at once what is wrong with the file as such
    _check_parts(path)
    with _damage(path):
        file = opening.on_disk(path).open("rb")
        book = openpyxl.load_workbook(file, read_only=True, data_only=values)
        for sheet in book.worksheets:
            # Some programs write a size that is too small, beyond which nothing would be read.
            sheet.reset_dimensions()
        return book


def guarded_rows(rows: Iterator[T], path: Path) -> Iterator[T]:
    """The rows of a workbook. What the library raises becomes one error about the file."""
    while True:
        with _damage(path):
            row = next(rows, _END)
        if row is _END:
            return
        yield row


_END: Any = object()


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (RagassayError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        said = " ".join(str(error).split())
        said = f": {said if len(said) <= _SHOWN else f'{said[:_SHOWN]}…'}" if said else ""
        raise wrong("damaged_workbook", path=path, why=f"{type(error).__name__}{said}") from error


def _check_parts(path: Path) -> None:
    """Refuses an archive without a sheet, or without the formats by which dates are known."""
    with _damage(path), zipfile.ZipFile(opening.on_disk(path)) as archive:
        there = set(opening.checked_parts(archive, path))
        for element in ElementTree.fromstring(archive.read("[Content_Types].xml")):
            part = element.get("PartName", "").lstrip("/")
            is_read = element.get("ContentType", "").endswith(_READ)
            if is_read and part not in there:
                raise wrong("damaged_workbook", path=path, why=f"its part {part} is missing")


_MOST_COLUMNS = 16_384
"""Of a sheet, by Excel's limit."""


def _sheet_rows(path: Path, mapper: Mapper) -> Rows:
    """Each row, with its number, of the first sheet with records, or of the named one."""
    book = load_workbook(path, values=True)
    with_content = []
    for worksheet in book.worksheets:
        filled = filter(None, map(_filled, worksheet.iter_rows(values_only=True)))
        if len(list(islice(filled, 2))) == 2:  # more than a header
            with_content.append(worksheet)
    if mapper.sheet is not None:
        with_content = [sheet for sheet in with_content if sheet.title == mapper.sheet]
        if not with_content:
            names = [sheet.title for sheet in book.worksheets]
            facts = {"near": did_you_mean(mapper.sheet, names), "sheets": ", ".join(names)}
            raise wrong("no_such_sheet", path=path, sheet=mapper.sheet, **facts)
    if not with_content:
        raise wrong("no_sheet", path=path)
    chosen, *others = with_content
    for sheet in others:
        mapper.tell("further_sheets", sheet=sheet.title, chosen=chosen.title)
    header: list[str] | None = None
    for line, row in enumerate(chosen.iter_rows(), 1):
        cells = [cell.value for cell in row]
        if not _filled(cells):
            continue
        if header is None:
            header = ["" if item is None else str(item).strip() for item in cells[:_MOST_COLUMNS]]
            delimited.refuse_repeated([*filter(None, header)], path, line)
            at = line
            continue
        values = dict.fromkeys(filter(None, header))
        for name, cell in zip_longest(header, row):
            value = None if cell is None else cell.value
            if not name and value not in (None, ""):
                sheet = chosen.title
                raise wrong("unnamed_column", path=path, line=line, at=at, sheet=sheet)
            if value in (None, ""):
                continue
            if isinstance(value, datetime) and value.time() == time():
                value = value.date()
            with placed(path, line):
                values[name] = plain(value, name)
        yield line, values


def _workbook_rows(path: Path, mapper: Mapper) -> Rows:
    return guarded_rows(_sheet_rows(path, mapper), path)


def _filled(cells: Iterable[Any]) -> list[Any]:
    return [cell for cell in cells if cell not in (None, "")]


_XLSX = "Excel workbook with known column names in its first sheet (extra 'excel')"
FORMATS = [
    Format("csv", _CSV, (".csv",), _is_table, _reader(_text_rows), ("table",)),
    Format("hf_dataset", _DATA_SET, (), _is_data_set, _reader(_arrow_rows), ("folder",)),
    Format(
        "parquet", _PARQUET, (".parquet", ".pq"), by_container, _reader(parquet_rows), ("parquet",)
    ),
    Format("tsv", _TSV, (".tsv",), _is_tsv, _reader(_text_rows), ("table",)),
    Format("xlsx", _XLSX, (".xlsx", ".xlsm"), by_container, _reader(_workbook_rows), ("archive",)),
]
