"""Which format a file has, first by its content, then by its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ragassay.errors import InputError
from ragassay.formats.format import Format, Head
from ragassay.formats.records import delimited, opening


def detect(path: Path, formats: Mapping[str, Format]) -> Format:
    """The format that fits best.

    Args:
        path: the file.
        formats: the known formats, by name.

    Raises:
        InputError: the file cannot be opened, or none fits.
    """
    start = head(path)
    ranked = sorted(
        ((one.sniff(start), start.suffix in one.suffixes, one) for one in formats.values()),
        key=lambda item: item[:2],
        reverse=True,
    )
    fit, _, best = ranked[0]
    if not fit:
        opening.demand_text(start.start, path)
        _demand_json(start)
        raise InputError(
            "no known format fits: it is neither JSON nor Parquet, and its first line names no "
            "column that is known",
            path=path,
            hint=f"Name the format, one of: {', '.join(formats)}.",
        )
    return best


def _demand_json(start: Head) -> None:
    """Refuses a JSON Lines file whose first line is no JSON, with that line as the reason.

    Raises:
        InputError: with the line.
    """
    if start.suffix in (".jsonl", ".ndjson"):
        for line, raw in opening.lines(start.path):
            opening.parse_json(raw, start.path, line)
            return


def head(path: Path) -> Head:
    """The beginning of a file, which detection looks at."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    with opening.opened(path) as stream:
        start = stream.read(1 << 16)
    if start[:4] == b"PAR1":
        return Head(path, suffix, "parquet", start=start)
    if start.lstrip()[:1] in (b"{", b"["):
        record = opening.first_record(path)
        return Head(path, suffix, "json", tuple(record), record, start)
    columns = delimited.header(path)
    return Head(path, suffix, "table" if columns else "other", columns, start=start)
