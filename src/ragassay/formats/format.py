"""What a format is, all there are (a file of this package that defines ``FORMAT`` or ``FORMATS``,
and the rows of ``exports.yaml``), and which one a file has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from ragassay.base import packages
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.formats.format_words import wrong
from ragassay.formats.records.field_names import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.formats.sources.json_files import parse_json

NO, CONTAINER, SURE = 0, 1, 2
"""How well a file fits a format: not at all; its container does (any JSON, any CSV); its fields
do."""


@dataclass(frozen=True)
class Head:
    """The beginning of a file: all that detection looks at.

    Attributes:
        suffix: the last one in lower case, ``.gz`` left aside.
        container: ``json`` (lines or a document), ``table`` (text with a header), ``parquet``,
            ``archive`` (zip), ``folder`` or ``other``.
        columns: names in the header, keys of the first record, or names in the folder.
        record: the first record of JSON, or the first row of a text table.
        start: its first bytes, decompressed.
    """

    path: Path
    suffix: str
    container: str
    columns: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    start: bytes = b""

    def holds(self, *fields: str) -> bool:
        """Whether a column is known, by its name, to hold one of these fields."""
        return any(FIELD_OF.get(folded(name)) in fields for name in self.columns)


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes:
        name: what ``--format`` takes.
        title: one line for people.
        suffixes: the usual endings of its files.
        sniff: `NO`, `CONTAINER` or `SURE` for the head of a file.
        read: the samples of a file, one after the other; makes them with the mapper it is given.
        containers: kinds of files (`Head`) that are of the format alone; empty for all.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[Head], int]
    read: Callable[[Path, Mapper], Iterator[Sample]]
    containers: tuple[str, ...] = ()

    def fits(self, head: Head) -> int:
        """How well a file fits."""
        return NO if self.containers and head.container not in self.containers else self.sniff(head)


def by_container(head: Head) -> int:
    """The sniffer of a format that all files of its containers are of."""
    return CONTAINER


@cache
def all_formats() -> Mapping[str, Format]:
    """Every format by name."""
    modules = list(packages.modules("ragassay.formats"))
    ours = [getattr(module, "FORMAT", None) for module in modules]
    of_table = chain.from_iterable(getattr(module, "FORMATS", ()) for module in modules)
    every = [*ours, *of_table, *packages.added("formats").values()]
    by_name = ((one.name, one) for one in every if isinstance(one, Format))
    return packages.by_name("format", by_name)


def get(name: str) -> Format:
    """The format called ``name``.

    Raises:
        UsageError: there is none; the message has the nearest match.
    """
    formats = all_formats()
    if name not in formats:
        hint = did_you_mean(name, formats)
        raise UsageError(f"Unknown format {name!r}. {hint} There are: {', '.join(formats)}.")
    return formats[name]


def detect(path: Path, encoding: str | None = None) -> Format:
    """The format that fits a file or folder best, first by its content, then by its name."""
    formats, start = all_formats(), head(path, encoding)
    ranked = ((one.fits(start), start.suffix in one.suffixes, one) for one in formats.values())
    fit, _, best = max(ranked, key=lambda item: item[:2])
    if not fit:
        if start.container == "folder":
            raise opening.folder(path)
        opening.demand_text(start.start, path)
        if start.suffix in (".jsonl", ".ndjson"):  # what is no JSON in its first line is the reason
            line, raw = next(opening.lines(path))
            parse_json(raw, path, line)
        raise wrong("no_format", path=path, formats=", ".join(formats))
    with suppress(InputError):
        within = json_files.records_within(start.record) if fit < SURE else None
        inner = next(iter(within[0]), None) if within else None
        if inner is not None:
            # An object around a list of records says little: the first of them may say more.
            start = replace(start, columns=tuple(inner), record=inner)
            return next((one for one in formats.values() if one.fits(start) == SURE), best)
    return best


def head(path: Path, encoding: str | None = None) -> Head:
    """The beginning of a file, or the names in a folder, which detection looks at."""
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
    columns, row = delimited.beginning(path, encoding)
    return Head(path, suffix, "table" if columns else "other", columns, row, start)


def _columns(path: Path) -> tuple[str, ...]:
    """The columns of a Parquet file; none where it cannot be read: its reader gives the error."""
    import polars as pl

    with suppress(pl.exceptions.PolarsError, OSError):
        return tuple(pl.read_parquet_schema(opening.on_disk(path)))
    return ()
