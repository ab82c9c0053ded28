"""What a format is (a name, a way to recognise a file, and a way to read it), and all there are.

A format is one file in this package that defines ``FORMAT``, or a row of ``exports.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from ragassay.base import package_files, plugins
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.formats.records.aliases import FIELD_OF, folded
from ragassay.formats.records.sample_records import Mapper

NO, CONTAINER, SURE = 0, 1, 2
"""How well a file fits a format: not at all; its container does (any JSON, any CSV); its fields
do."""


@dataclass(frozen=True)
class Head:
    """The beginning of a file: all that detection looks at.

    Attributes:
        path: the file.
        suffix: its last suffix in lower case, ``.gz`` left aside.
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

    def has(self, *names: str) -> bool:
        """Whether all of these columns are there."""
        return all(name in self.columns for name in names)

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
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[Head], int]
    read: Callable[[Path, Mapper], Iterator[Sample]]


@cache
def all_formats() -> Mapping[str, Format]:
    """Every format by name."""
    modules = list(package_files.modules("ragassay.formats"))
    ours = [getattr(module, "FORMAT", None) for module in modules]
    of_table = chain.from_iterable(getattr(module, "FORMATS", ()) for module in modules)
    every = [*ours, *of_table, *plugins.added("formats").values()]
    by_name = ((one.name, one) for one in every if isinstance(one, Format))
    return plugins.by_name("format", by_name)


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
