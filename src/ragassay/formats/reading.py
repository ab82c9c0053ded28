"""Finds the format of files; reads files of every format (JSON here) and records in memory."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, Unpack

from ragassay.base import packages
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.formats import frames, table_files
from ragassay.formats.format import SURE, Format, Head, by_container
from ragassay.formats.format_words import wrong
from ragassay.formats.records.field_names import ALIASES
from ragassay.formats.records.sample_records import Mapper, MapperOptions, Notes
from ragassay.formats.sources import delimited, json_files, opening
from ragassay.formats.sources.json_files import parse_json
from ragassay.formats.trec import trec_run
from ragassay.formats.trec.trec_run import Qrels

Name = str | os.PathLike[str]
Paths = Name | Sequence[Name]
"""A file, a folder, a pattern, or several of them."""


def files_of(path: Paths) -> list[Path]:
    """The files that are named.

    Args:
        path: a file or folder, a pattern (``runs/*.jsonl``), or a list of these. What a pattern
            names is sorted, as are the files of a folder that holds an export of traces.

    Raises:
        InputError: a pattern names nothing.
        UsageError: the list is empty.
    """
    files: list[Path] = []
    for item in map(Path, [path] if isinstance(path, str | os.PathLike) else path):
        if item.exists() or not glob.has_magic(str(item)):
            files += _parts(item) if item.is_dir() else [item]
            continue
        found = sorted(glob.glob(str(item), recursive=True))  # noqa: PTH207
        if not found:
            raise InputError("no file has a name of this pattern", path=item)
        files += map(Path, found)
    if not files:
        raise UsageError("No data is named. Give a file.")
    return files


def _parts(folder: Path) -> list[Path]:
    """The files of a folder and those in it that are all parts of one export; else the folder."""
    items = (*folder.glob("*"), *folder.glob("*/*"))
    files = sorted(item for item in items if item.is_file() and item.name[0] != ".")
    with suppress(InputError):
        if files and detect(files[0]).read_together and len({*map(detect, files)}) == 1:
            return files
    return [folder]


def share_traces(files: Sequence[Path], **options: Unpack[MapperOptions]) -> bool:
    """Whether several files hold parts of the same traces, as of one export."""
    options["notes"] = Notes()
    with suppress(InputError):
        if len(files) > 1 and all(detect(file).read_together for file in files):
            alone = sum(len(load(file, **options)) for file in files)
            return len(load(files, **options)) < alone
    return False


def read_json(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of a JSON Lines file (or a JSON list), one by one."""
    is_record = mapper.reaches_into if mapper.columns else None
    records = json_files.json_records(path, mapper.around, mapper.encoding, is_record=is_record)
    for line, record in records:
        yield mapper.sample(record, line)


_TITLE = "Native JSON Lines, and any JSON records with known field names"
FORMAT = Format("jsonl", _TITLE, (".jsonl", ".ndjson", ".json"), by_container, read_json, ("json",))


@cache
def all_formats() -> Mapping[str, Format]:
    """Every format by name: those that a file of this package defines as ``FORMAT`` or ``FORMATS``
    (among them the rows of ``exports.yaml``), and those of other packages."""
    modules = list(packages.modules("ragassay.formats"))
    every = [getattr(module, "FORMAT", None) for module in modules]
    every += chain.from_iterable(getattr(module, "FORMATS", ()) for module in modules)
    every += packages.added("formats").values()
    by_name = ((each.name, each) for each in every if isinstance(each, Format))
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


def detect(paths: Paths, encoding: str | None = None) -> Format:
    """The format that fits a file or folder best, first by its content, then by its name; of
    several, that of the first.

    Args:
        paths: the file, or several (see `files_of`).
        encoding: of its text, where that is not UTF-8.

    Raises:
        InputError: the file cannot be opened, or no format fits it.
    """
    path = files_of(paths)[0]
    start = head(path, encoding)
    names = start.record.keys()
    if start.suffix in FORMAT.suffixes and {"id", "query"} <= names <= ALIASES.keys():
        return FORMAT  # our own names alone, as no other tool writes them
    formats = all_formats()
    ranked = ((item.fits(start), start.suffix in item.suffixes, item) for item in formats.values())
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
            return next((item for item in formats.values() if item.fits(start) == SURE), best)
    return best


def head(path: Path, encoding: str | None = None) -> Head:
    """The beginning of a file, or the names in a folder, which detection looks at."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    if path.is_dir():
        return Head(path, suffix, "folder", tuple(sorted(item.name for item in path.iterdir())))
    with opening.opened(path, encoding) as stream:
        start = stream.read(1 << 16)
    if start[:4] in opening.BINARY:
        if start[:4] != b"PAR1":
            return Head(path, suffix, "archive", start=start)
        return Head(path, suffix, "parquet", _columns(path), start=start)
    if start.lstrip()[:1] in (b"{", b"["):
        record = json_files.first_record(path, encoding)
        return Head(path, suffix, "json", tuple(record), record, start)
    if suffix in (".yaml", ".yml"):
        keys = re.findall(r"(?m)^(\w+):", start.decode(errors="replace"))
        return Head(path, suffix, "yaml", tuple(keys), start=start)
    columns, row = delimited.beginning(path, encoding)
    return Head(path, suffix, "table" if columns else "other", columns, row, start)


def _columns(path: Path) -> tuple[str, ...]:
    """The columns of a Parquet file; none where it cannot be read: its reader gives the error."""
    import polars as pl

    with suppress(pl.exceptions.PolarsError, OSError):
        return tuple(pl.read_parquet_schema(opening.on_disk(path)))
    return ()


def read(
    path: Paths,
    *,
    format: str | None = None,  # noqa: A002  # the name that users know from --format
    limit: int | None = None,
    gold: str | os.PathLike[str] | Qrels | None = None,
    **options: Unpack[MapperOptions],
) -> Iterator[Sample]:
    """The samples of a file, one after the other.

    Args:
        path: the file or folder; gzip is recognised by its content. Also a pattern
            (``runs/*.jsonl``) or a list: their samples follow each other, and two of them with one
            id, system and repeat are an error.
        format: a name from `all_formats`, where detection is not wanted.
        limit: how many samples to read at most.
        gold: relevance judgements that replace the gold passages of their queries: a qrels file,
            or the mapping query id -> document id -> grade.
        **options: ``columns`` (field -> column of the data, for names that are not known;
            UltraRAG's ``key_map`` is understood too), ``separator`` (what is between the
            passages of a single text), ``single_chunk`` (such a text is one passage, whatever it
            holds), ``refuse_joined`` (a text that seems to hold several passages and is not cut
            is an error, in place of a note; ``marks``: blank lines alone are no sign), ``system``
            (of records that name none), ``encoding`` (of text that is not UTF-8: ``cp1252``; byte
            order marks are known), ``delimiter`` (of CSV, where its header does not show it),
            ``zone`` (of times that name none: ``Europe/Berlin``; else UTC), ``notes`` (takes what
            is worth telling about the data; without it, the same is issued as `RagassayWarning`
            once the file is read).

    Raises:
        InputError: the file, or a record in it, cannot be read (nothing is ever skipped), or no
            sample of a system is of a query in ``gold``.
        UsageError: an unknown format or field, a limit below 1, or ``single_chunk`` beside a
            separator.
    """
    paths = files_of(path)
    if limit is not None and limit < 1:
        raise UsageError(f"The limit must be at least 1, not {limit}.")
    mapper = Mapper(paths[0], **options)
    forced = None if format is None else get(format)
    files = [(forced or detect(item, mapper.encoding), item) for item in paths]
    if mapper.span is not None and not any(reader.read_together for reader, _ in files):
        raise UsageError(
            f"passages_from: only traces have steps ({mapper.span!r}), and {paths[0]} is not an "
            f"export of traces: its format is {files[0][0].name}."
        )
    samples = mapper.of_files(files)
    if gold is not None:
        samples = trec_run.with_gold(files, samples, mapper, gold)
    return _stream(islice(samples, limit), mapper, paths)


def load(
    path: Paths,
    *,
    format: str | None = None,  # noqa: A002
    limit: int | None = None,
    gold: str | os.PathLike[str] | Qrels | None = None,
    **options: Unpack[MapperOptions],
) -> list[Sample]:
    """All samples of a file.

    Examples:
        >>> import pathlib, ragassay
        >>> line = '{"id": "1", "question": "Who?", "prediction": "Ann", "contexts": ["Ann did."]}'
        >>> _ = pathlib.Path("answers.jsonl").write_text(line)
        >>> (sample,) = ragassay.load("answers.jsonl")
        >>> sample.query, sample.answer.text, sample.passages[0].text
        ('Who?', 'Ann', 'Ann did.')

    Arguments and errors: as for `read`.
    """
    return list(read(path, format=format, limit=limit, gold=gold, **options))


def from_records(
    records: Any,
    *,
    gold: str | os.PathLike[str] | Qrels | None = None,
    **options: Unpack[MapperOptions],
) -> Iterator[Sample]:
    """The samples of records in memory.

    Args:
        records: mappings, samples, or objects of data classes and pydantic; a list for each
            column; a pandas or polars frame, an Arrow table, or a data set of Hugging Face.
        gold: as in `read`.
        **options: ``columns``, ``separator``, ``single_chunk``, ``refuse_joined``, ``system``,
            ``encoding`` and ``notes``, as in `read`.

    Raises:
        InputError: a record cannot be read; its number, from 1, is given as the line. Or no sample
            of a system is of a query in ``gold``.
    """
    return map_records(records, Mapper(cells=True, **options), gold)


def map_records(
    records: Any, mapper: Mapper, gold: str | os.PathLike[str] | Qrels | None = None
) -> Iterator[Sample]:
    """The samples that a mapper makes of records in memory."""
    samples = _mapped(records, mapper)
    yield from samples if gold is None else trec_run.with_gold((), samples, mapper, gold)
    mapper.finish("records")


def _mapped(records: Any, mapper: Mapper) -> Iterator[Sample]:
    # Hugging Face's ``DatasetDict`` holds a data set a split.
    parts = records.values() if isinstance(records, Mapping) else ()
    if parts and all(hasattr(part, "column_names") and hasattr(part, "features") for part in parts):
        records = records[table_files.chosen_split(list(records), None, mapper)]
    for number, record in frames.rows(records):
        if isinstance(record, Sample):
            mapper.claim(record, number)
            yield record
        else:
            yield mapper.sample(record, number)


def _stream(samples: Iterator[Sample], mapper: Mapper, paths: list[Path]) -> Iterator[Sample]:
    about = ", ".join(map(str, paths[:3])) + " ..." * (len(paths) > 3)
    if (first := next(samples, None)) is None:
        raise (mapper.nothing_known or InputError("there are no records")).at(path=about)
    yield first
    yield from samples
    mapper.finish(about)
