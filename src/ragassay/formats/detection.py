"""Which format a file has, first by its content, then by its name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ragassay.base.errors import InputError
from ragassay.formats.format import SURE, Format, Head
from ragassay.formats.sources import delimited, json_files, opening, standard_input


def detect(path: Path, formats: Mapping[str, Format], encoding: str | None = None) -> Format:
    """The format that fits best.

    Args:
        path: the file or folder.
        formats: the known formats, by name.
        encoding: of its text, where that is not UTF-8.

    Raises:
        InputError: the file cannot be opened, or none fits.
    """
    start = head(path, encoding)
    ranked = ((one.sniff(start), start.suffix in one.suffixes, one) for one in formats.values())
    fit, _, best = max(ranked, key=lambda item: item[:2])
    if not fit:
        if start.container == "folder":
            raise opening.folder(path)
        opening.demand_text(start.start, path)
        _demand_json(start)
        raise InputError(
            "no known format fits: it is neither JSON nor Parquet nor XLSX, and its first line "
            "names no column that is known",
            path=path,
            hint=f"Name the format, one of: {', '.join(formats)}.",
        )
    if fit < SURE and (inner := json_files.inner_record(start.record)) is not None:
        # An object around a list of records says little: the first of them may say more.
        start = replace(start, columns=tuple(inner), record=inner)
        return next((one for one in formats.values() if one.sniff(start) == SURE), best)
    return best


def _demand_json(start: Head) -> None:
    """Refuses a JSON Lines file whose first line is no JSON, with that line as the reason.

    Raises:
        InputError: with the line.
    """
    if start.suffix in (".jsonl", ".ndjson"):
        for line, raw in opening.lines(start.path):
            json_files.parse_json(raw, start.path, line)
            return


def head(path: Path, encoding: str | None = None) -> Head:
    """The beginning of a file, or the names in a folder, which detection looks at.

    Args:
        path: the file or folder.
        encoding: of its text, where that is not UTF-8.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    if path.is_dir():
        return Head(path, suffix, "folder", tuple(sorted(one.name for one in path.iterdir())))
    with opening.opened(path, encoding) as stream:
        start = stream.read(1 << 16)
    if start[:4] in opening.BINARY:
        if start[:4] != b"PAR1":
            return Head(path, suffix, "archive", start=start)
        return Head(path, suffix, "parquet", _columns(path), start=start)
    if start.lstrip()[:1] in (b"{", b"["):
        record = json_files.first_record(path, encoding)
        return Head(path, suffix, "json", tuple(record), record, start)
    columns = delimited.header(path, encoding)
    if not columns:
        return Head(path, suffix, "other", start=start)
    return Head(path, suffix, "table", columns, delimited.first_row(path, encoding), start)


def _columns(path: Path) -> tuple[str, ...]:
    """The columns of a Parquet file; none where it cannot be read: its reader gives the error."""
    import polars as pl

    with suppress(pl.exceptions.PolarsError, OSError):
        return tuple(pl.read_parquet_schema(standard_input.on_disk(path)))
    return ()
