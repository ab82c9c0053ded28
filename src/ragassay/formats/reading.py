"""Reads files of every format, and records in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from ragassay import discovery, extensions
from ragassay.errors import InputError, UsageError, did_you_mean
from ragassay.formats import detection, frames, trec_run
from ragassay.formats.format import Format
from ragassay.formats.records import Mapper, MapperOptions
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
    limit: int | None = None,
    gold: str | os.PathLike[str] | Qrels | None = None,
    **options: Unpack[MapperOptions],
) -> Iterator[Sample]:
    """The samples of a file, one after the other.

    Args:
        path: the file; gzip is recognised by its content.
        format: a name from `known`, where detection is not wanted.
        limit: how many samples to read at most.
        gold: relevance judgements that replace the gold passages of their queries: a qrels file,
            or the mapping query id -> document id -> grade.
        **options: ``columns`` (field -> column of the data, for names that are not known;
            UltraRAG's ``key_map`` is understood too), ``separator`` (what stands between the
            passages of a single text), ``single_chunk`` (such a text is one passage, whatever it
            holds), ``refuse_joined`` (a text that seems to hold several passages and is not cut
            is an error, in place of a note), ``system`` (of records that name none), ``notes``
            (takes what is worth telling about the data; without it, the same is issued as
            `RagassayWarning` once the file is read).

    Raises:
        InputError: the file, or a record in it, cannot be read. Nothing is ever skipped.
        UsageError: an unknown format or field, a limit below 1, or ``single_chunk`` beside a
            separator.
    """
    source = Path(path)
    if limit is not None and limit < 1:
        raise UsageError(f"The limit must be at least 1, not {limit}.")
    mapper = Mapper(source, **options)
    reader = get(format) if format is not None else detect(source)
    if gold is None:
        samples = reader.read(source, mapper)
    else:
        samples = trec_run.with_gold(reader, source, mapper, gold)
    return _stream(islice(samples, limit), mapper, source)


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    limit: int | None = None,
    gold: str | os.PathLike[str] | Qrels | None = None,
    **options: Unpack[MapperOptions],
) -> list[Sample]:
    """All samples of a file.

    Args:
        path: the file; gzip is recognised by its content.
        format: a name from `known`, where detection is not wanted.
        limit: how many samples to read at most.
        gold: relevance judgements that replace the gold passages of their queries.
        **options: ``columns``, ``separator``, ``single_chunk``, ``refuse_joined``, ``system`` and
            ``notes``, as in `read`.

    Raises:
        InputError: the file, or a record in it, cannot be read.
        UsageError: an unknown format or field, a limit below 1, or ``single_chunk`` beside a
            separator.
    """
    return list(read(path, format=format, limit=limit, gold=gold, **options))


def from_records(records: Any, **options: Unpack[MapperOptions]) -> Iterator[Sample]:
    """The samples of records in memory.

    Args:
        records: mappings (or samples), a pandas or polars frame, or an Arrow table.
        **options: ``columns``, ``separator``, ``single_chunk``, ``refuse_joined``, ``system`` and
            ``notes``, as in `read`.

    Raises:
        InputError: a record cannot be read; its number, from 1, is given as the line.
    """
    return map_records(records, Mapper(cells=True, **options))


def map_records(records: Any, mapper: Mapper) -> Iterator[Sample]:
    """The samples that a mapper makes of records in memory.

    Args:
        records: as of `from_records`.
        mapper: made for these records.

    Raises:
        InputError: a record cannot be read; its number, from 1, is given as the line.
    """
    for number, record in frames.rows(records):
        if isinstance(record, Sample):
            mapper.claim(record, number)
            yield record
        else:
            yield mapper.sample(record, number)
    mapper.finish("records")


def _stream(samples: Iterator[Sample], mapper: Mapper, path: Path) -> Iterator[Sample]:
    first = next(samples, None)
    if first is None:
        raise InputError("there are no records", path=path)
    yield first
    yield from samples
    mapper.finish(path)
