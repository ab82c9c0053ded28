"""Tables with known column names: CSV and tab-separated text, Parquet in slices that fit in memory,
and data sets that Hugging Face ``datasets`` saved with ``save_to_disk`` (folders of Arrow
files)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, cast

from ragassay.base.sample import Sample
from ragassay.formats import frames
from ragassay.formats.format import CONTAINER, NO, SURE, Format, Head
from ragassay.formats.format_words import wrong
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, opening, standard_input
from ragassay.formats.sources.json_values import whole_object

_SLICE = 4096
_STATE, _SPLITS = "state.json", "dataset_dict.json"

Rows = Iterator[tuple[int, dict[str, Any]]]


def _text_rows(path: Path, mapper: Mapper) -> Rows:
    for line, row in delimited.rows(path, mapper.encoding, mapper.delimiter):
        if (row.get("") or "").isdecimal():  # pandas writes the index of a frame so, by default
            del row[""]
        yield line, cast("dict[str, Any]", row)


def parquet_rows(path: Path, mapper: Mapper | None = None) -> Rows:
    """Each row with its number, in slices that fit in memory."""
    import polars as pl

    with opening.by_polars(path, "Parquet"):
        scanned = pl.scan_parquet(standard_input.on_disk(path), glob=False)
        n_rows = int(scanned.select(pl.len()).collect().item())
        for start in range(0, n_rows, _SLICE):
            yield from cast(Rows, frames.rows(scanned.slice(start, _SLICE), start + 1))


def _arrow_rows(path: Path, mapper: Mapper) -> Rows:
    """The rows of a saved data set; of one with splits, those of `chosen_split`."""
    import polars as pl

    if (path / _SPLITS).is_file():
        listed = whole_object(path / _SPLITS).get("splits")
        splits = listed if isinstance(listed, list) else []
        names = [one for one in splits if isinstance(one, str) and Path(one).name == one]
        path = path / chosen_split(names, path, mapper)
    listed = whole_object(path / _STATE).get("_data_files")
    files: list[Any] = [one.get("filename") for one in listed or () if isinstance(one, dict)]
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
    return CONTAINER if head.container == "table" and fits else NO


def _is_tsv(head: Head) -> int:
    return _is_table(head) if b"\t" in head.start.split(b"\n", 1)[0] else NO


def _is_parquet(head: Head) -> int:
    return CONTAINER if head.container == "parquet" else NO


def _is_data_set(head: Head) -> int:
    is_data_set = head.has(_STATE, "dataset_info.json") or head.has(_SPLITS)
    return SURE if head.container == "folder" and is_data_set else NO


_PARQUET = "Parquet with known column names"
_CSV = "CSV with a header (comma, semicolon or bar) and known column names"
_TSV = "Tab-separated text with a header and known column names"
_DATA_SET = "Hugging Face data set saved with save_to_disk (folder)"

FORMATS = [
    Format("csv", _CSV, (".csv",), _is_table, _reader(_text_rows)),
    Format("hf_dataset", _DATA_SET, (), _is_data_set, _reader(_arrow_rows)),
    Format("parquet", _PARQUET, (".parquet", ".pq"), _is_parquet, _reader(parquet_rows)),
    Format("tsv", _TSV, (".tsv",), _is_tsv, _reader(_text_rows)),
]
