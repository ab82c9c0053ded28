"""Excel workbooks, opened: whatever is wrong with one is one error. Needs the extra ``excel``."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

from ragassay.base.errors import InputError, RagassayError, extra_needed
from ragassay.formats.format_words import wrong
from ragassay.formats.sources import opening, standard_input

_MOST_PACKED = 100
_LARGE = 1 << 26
"""Bytes that fit any memory."""
_SHOWN = 120
"""Characters of what the library says."""

_READ = ("worksheet+xml", "styles+xml")
"""Ends of the kinds of parts that openpyxl reads without, as if they were empty."""

T = TypeVar("T")


def load(path: Path, *, values: bool) -> Any:
    """An openpyxl workbook, to be read row by row within `guarded`.

    Args:
        path: the file.
        values: whether a formula is read as the value that was saved with it, in place of its text.
    """
    with extra_needed("To read XLSX, install the extra 'excel'", "excel"):
        import openpyxl
    with opening.opened(path):
        pass  # says at once what is wrong with the file as such
    _check_parts(path)
    with _damage(path):
        file = standard_input.on_disk(path).open("rb")
        book = openpyxl.load_workbook(file, read_only=True, data_only=values)
        for sheet in book.worksheets:
            # Some programs write a size that is too small, beyond which nothing would be read.
            sheet.reset_dimensions()
        return book


def guarded(rows: Iterator[T], path: Path) -> Iterator[T]:
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
        raise _unreadable(path, f"{type(error).__name__}{said}") from error


def _unreadable(path: Path, why: str) -> InputError:
    return wrong("damaged_workbook", path=path, why=why)


def _check_parts(path: Path) -> None:
    """Refuses an archive that lacks a sheet or the formats of cells, without which dates are read
    as numbers; and one that unpacks to far more than it is: it may fill the memory."""
    with _damage(path), zipfile.ZipFile(standard_input.on_disk(path)) as archive:
        parts = archive.infolist()
        size = sum(part.file_size for part in parts)
        if size > max(_LARGE, _MOST_PACKED * sum(part.compress_size for part in parts)):
            raise wrong("large_workbook", path=path, most=_MOST_PACKED)
        there = {part.filename for part in parts}
        for one in ElementTree.fromstring(archive.read("[Content_Types].xml")):
            part = one.get("PartName", "").lstrip("/")
            is_read = one.get("ContentType", "").endswith(_READ)
            if is_read and part not in there:
                raise _unreadable(path, f"its part {part} is missing")
