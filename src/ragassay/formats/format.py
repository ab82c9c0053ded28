"""What a format is, and the beginning of a file, by which it is recognised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragassay.base.sample import Sample
from ragassay.formats.records.sample_records import Mapper

NO, CONTAINER, SURE = 0, 1, 2
"""How well a file fits a format: not at all; its container does (any JSON); its fields do."""


@dataclass(frozen=True)
class Head:
    """The beginning of a file: all that detection looks at.

    Attributes:
        suffix: the last one in lower case, ``.gz`` left aside.
        container: ``json`` (lines or a document), ``table`` (text with a header), ``parquet``,
            ``yaml``, ``archive`` (zip), ``folder`` or ``other``.
        columns: names in the header, keys of the first record or of YAML, or names in the folder.
        record: the first record of JSON, or the first row of a text table.
        start: its first bytes, decompressed.
    """

    path: Path
    suffix: str
    container: str
    columns: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    start: bytes = b""


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
        read_together: the samples of several files, where one may be in parts in several of them.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[Head], int]
    read: Callable[[Path, Mapper], Iterator[Sample]]
    containers: tuple[str, ...] = ()
    read_together: Callable[[Sequence[Path], Mapper], Iterator[Sample]] | None = None

    def fits(self, head: Head) -> int:
        """How well a file fits."""
        return NO if self.containers and head.container not in self.containers else self.sniff(head)


def by_container(head: Head) -> int:
    """The sniffer of a format that all files of its containers are of."""
    return CONTAINER
