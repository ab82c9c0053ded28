"""Parquet with known column names, in slices that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ragassay.base.sample import Sample
from ragassay.formats import frames
from ragassay.formats.format import CONTAINER, NO, Format, Head
from ragassay.formats.records.sample_records import Mapper, Record
from ragassay.formats.sources import opening, standard_input

_SLICE = 4096


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of a Parquet file, one a row.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a row cannot be read.
    """
    mapper.cells = True
    for number, row in table_rows(path):
        yield mapper.sample(cast("Record", row), number)


def table_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row with its number, in slices that fit in memory.

    Args:
        path: the file.

    Raises:
        InputError: the file cannot be read.
    """
    import polars as pl

    with opening.by_polars(path, "Parquet"):
        scanned = pl.scan_parquet(standard_input.on_disk(path), glob=False)
        n_rows = int(scanned.select(pl.len()).collect().item())
        for start in range(0, n_rows, _SLICE):
            for number, row in frames.rows(scanned.slice(start, _SLICE), start + 1):
                yield number, cast("dict[str, Any]", row)


def _sniff(head: Head) -> int:
    return CONTAINER if head.container == "parquet" else NO


FORMAT = Format(
    name="parquet",
    title="Parquet with known column names",
    suffixes=(".parquet", ".pq"),
    sniff=_sniff,
    read=read,
)
