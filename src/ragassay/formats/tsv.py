"""Tab-separated text with a header, through the aliases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragassay.formats import csv
from ragassay.formats.format import Format, Head
from ragassay.formats.records import Mapper, delimited
from ragassay.samples import Sample


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of a TSV file, one a row.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a row cannot be read.
    """
    mapper.cells = True
    for line, row in delimited.rows(path, "\t"):
        yield mapper.sample(row, line)


def _sniff(head: Head) -> int:
    return csv.FORMAT.sniff(head) if b"\t" in head.start.split(b"\n", 1)[0] else 0


FORMAT = Format(
    name="tsv",
    title="Tab-separated text with a header and known column names",
    suffixes=(".tsv",),
    sniff=_sniff,
    read=read,
)
