"""CSV with a header and known column names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragassay.base.sample import Sample
from ragassay.formats.format import CONTAINER, NO, Format, Head
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of a CSV file, one a row.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a row cannot be read.
    """
    mapper.cells = True
    for line, row in delimited.rows(path, mapper.encoding, mapper.delimiter):
        if (row.get("") or "").isdecimal():  # pandas writes the index of a frame so, by default
            del row[""]
        yield mapper.sample(row, line)


def _sniff(head: Head) -> int:
    fits = head.suffix == ".csv" or any(folded(name) in FIELD_OF for name in head.columns)
    return CONTAINER if head.container == "table" and fits else NO


FORMAT = Format(
    name="csv",
    title="CSV with a header (comma, semicolon or bar) and known column names",
    suffixes=(".csv",),
    sniff=_sniff,
    read=read,
)
