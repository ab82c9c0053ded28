"""Data sets that Hugging Face ``datasets`` saved with ``save_to_disk``: folders of Arrow files."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import cast

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats import frames
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper, Record
from ragassay.formats.sources import json_files, opening

_STATE, _SPLITS = "state.json", "dataset_dict.json"


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of a data set, one a row; of one with splits, those of its split ``test``, or of
    the only one.

    Args:
        path: the folder.
        mapper: makes the samples.

    Raises:
        InputError: a file or a row cannot be read, or none of several splits is ``test``.
    """
    import polars as pl

    mapper.cells = True
    if (path / _SPLITS).is_file():
        listed = json_files.whole_object(path / _SPLITS).get("splits")
        splits = listed if isinstance(listed, list) else []
        names = [one for one in splits if isinstance(one, str) and Path(one).name == one]
        path = path / chosen_split(names, path, mapper)
    before = 0
    for file in _files(path):
        with opening.by_polars(file, "Arrow"):
            frame = pl.read_ipc_stream(file)
        for number, row in frames.rows(frame, before + 1):
            yield mapper.sample(cast("Record", row), number)
        before += frame.height


def chosen_split(names: Collection[str], path: Path | None, mapper: Mapper) -> str:
    """The split that is read: the only one, or ``test``; a note says so.

    Args:
        names: of the splits.
        path: of the data set, for errors.
        mapper: takes the note.

    Raises:
        InputError: there are several, and none is ``test``.
    """
    if len(names) == 1:
        return next(iter(names))
    if "test" in names:
        others = ", ".join(name for name in names if name != "test")
        mapper.note(f"splits beside 'test' ({others})", "The split 'test' is read.")
        return "test"
    first = next(iter(names), "NAME")
    raise InputError(
        f"the data set has the splits {', '.join(names) or '(none)'}",
        path=path,
        hint=f"Name one of them: {path / first}." if path else f"Give one: data[{first!r}].",
    )


def _files(path: Path) -> list[Path]:
    listed = json_files.whole_object(path / _STATE).get("_data_files")
    names = [one.get("filename") for one in listed or () if isinstance(one, dict)]
    if not names or not all(isinstance(name, str) and Path(name).name == name for name in names):
        raise InputError(
            "the data set names no data files",
            path=path / _STATE,
            field="_data_files",
            hint="Save it again with save_to_disk.",
        )
    return [path / str(name) for name in names]


def _sniff(head: Head) -> int:
    is_dataset = head.has(_STATE, "dataset_info.json") or head.has(_SPLITS)
    return SURE if head.container == "folder" and is_dataset else NO


FORMAT = Format(
    name="hf_dataset",
    title="Hugging Face data set saved with save_to_disk (folder)",
    suffixes=(),
    sniff=_sniff,
    read=read,
)
