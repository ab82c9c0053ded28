"""Reads files of every format, and records in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from ragassay import discovery, extensions
from ragassay.errors import InputError, RagassayWarning, UsageError, did_you_mean
from ragassay.formats import detection, frames, trec_run
from ragassay.formats.format import Format
from ragassay.formats.native import schema, to_record, write
from ragassay.formats.records import Mapper, Notes, aliases
from ragassay.formats.trec_run import Qrels
from ragassay.samples import Sample


@cache
def known() -> Mapping[str, Format]:
    """Every format by name."""
    ours = [getattr(module, "FORMAT", None) for module in discovery.modules("ragassay.formats")]
    every = [*ours, *extensions.added("formats").values()]
    named = ((one.name, one) for one in every if isinstance(one, Format))
    return extensions.by_name("format", named)


def get(name: str) -> Format:
    """The format called ``name``.

    Raises:
        UsageError: there is none; the message has the nearest match.
    """
    formats = known()
    if name not in formats:
        hint = did_you_mean(name, formats)
        raise UsageError(f"Unknown format {name!r}. {hint} There are: {', '.join(formats)}.")
    return formats[name]


def detect(path: str | os.PathLike[str]) -> Format:
    """The format of a file, by its content and its name.

    Raises:
        InputError: the file cannot be opened, or no format fits it.
    """
    return detection.detect(Path(path), known())


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  # the name that users know from --format
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    single_chunk: bool = False,
    refuse_joined: bool = False,
    system: str | None = None,
    limit: int | None = None,
    gold: str | os.PathLike[str] | Qrels | None = None,
    notes: Notes | None = None,
) -> Iterator[Sample]:
    """The samples of a file, one after the other.

    Args:
        path: the file; gzip is recognised by its content.
        format: a name from `known`, where detection is not wanted.
        columns: field -> column of the data, for names that are not known. UltraRAG's ``key_map``
            is understood too.
        separator: what stands between the passages of a single text.
        single_chunk: such a text is one passage, whatever it holds.
        refuse_joined: a text that seems to hold several passages and is not cut is an error, in
            place of a note.
        system: names the system of records that do not name one.
        limit: how many samples to read at most.
        gold: relevance judgements that replace the gold passages of their queries: a qrels file,
            or the mapping query id -> document id -> grade.
        notes: takes what is worth telling about the data. Without it, the same is issued as
            `RagassayWarning` once the file is read.

    Raises:
        InputError: the file, or a record in it, cannot be read. Nothing is ever skipped.
        UsageError: an unknown format or field, a limit below 1, or ``single_chunk`` beside a
            separator.
    """
    source = Path(path)
    if limit is not None and limit < 1:
        raise UsageError(f"The limit must be at least 1, not {limit}.")
    chosen = aliases.canonical(columns)
    reader = get(format) if format is not None else detect(source)
    own = Notes() if notes is None else notes
    mapper = Mapper(
        source, columns=chosen, separator=separator, single_chunk=single_chunk,
        refuse_joined=refuse_joined, system=system, notes=own,
    )  # fmt: skip
    if gold is None:
        samples = reader.read(source, mapper)
    else:
        samples = trec_run.with_gold(reader, source, mapper, gold)
    return _stream(islice(samples, limit), mapper, source, own if notes is None else None)


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    single_chunk: bool = False,
    system: str | None = None,
    limit: int | None = None,
    gold: str | os.PathLike[str] | Qrels | None = None,
    notes: Notes | None = None,
) -> list[Sample]:
    """All samples of a file.

    Args:
        path: the file; gzip is recognised by its content.
        format: a name from `known`, where detection is not wanted.
        columns: field -> column of the data, for names that are not known.
        separator: what is between the passages of a single text.
        single_chunk: such a text is one passage, whatever it holds.
        system: names the system of records that do not name one.
        limit: how many samples to read at most.
        gold: relevance judgements that replace the gold passages of their queries.
        notes: collects remarks about the data; without it they are warnings.

    Raises:
        InputError: the file, or a record in it, cannot be read.
        UsageError: an unknown format or field, a limit below 1, or ``single_chunk`` beside a
            separator.
    """
    return list(
        read(
            path, format=format, columns=columns, separator=separator, single_chunk=single_chunk,
            system=system, limit=limit, gold=gold, notes=notes,
        )
    )  # fmt: skip


def from_records(
    records: Any,
    *,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    single_chunk: bool = False,
    refuse_joined: bool = False,
    system: str | None = None,
    notes: Notes | None = None,
) -> Iterator[Sample]:
    """The samples of records in memory.

    Args:
        records: mappings (or samples), a pandas or polars frame, or an Arrow table.
        columns: as in `read`.
        separator, single_chunk, refuse_joined: as in `read`.
        system: as in `read`.
        notes: as in `read`.

    Raises:
        InputError: a record cannot be read; its number, from 1, is given as the line.
    """
    chosen = aliases.canonical(columns)
    own = Notes() if notes is None else notes
    mapper = Mapper(
        columns=chosen, separator=separator, single_chunk=single_chunk,
        refuse_joined=refuse_joined, system=system, notes=own, cells=True,
    )  # fmt: skip
    return _mapped(records, mapper, own if notes is None else None)


def _mapped(records: Any, mapper: Mapper, to_warn: Notes | None) -> Iterator[Sample]:
    for number, record in frames.rows(records):
        if isinstance(record, Sample):
            mapper.claim(record, number)
            yield record
        else:
            yield mapper.sample(record, number)
    mapper.joined.finish()
    if to_warn is not None:
        to_warn.warn("records")


def _stream(
    samples: Iterator[Sample], mapper: Mapper, path: Path, to_warn: Notes | None
) -> Iterator[Sample]:
    first = next(samples, None)
    if first is None:
        raise InputError("there are no records", path=path)
    yield first
    yield from samples
    mapper.joined.finish()
    if to_warn is not None:
        to_warn.warn(path)


__all__ = [
    "Format",
    "Notes",
    "RagassayWarning",
    "detect",
    "from_records",
    "get",
    "known",
    "load",
    "read",
    "schema",
    "to_record",
    "write",
]
