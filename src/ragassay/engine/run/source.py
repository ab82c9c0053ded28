"""Where samples come from: a file, records in memory, or samples themselves."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from ragassay import formats, golden
from ragassay.base.errors import InputError, UsageError, called, warn_user
from ragassay.base.json_data import dumps
from ragassay.base.note import Note
from ragassay.base.printable import plural
from ragassay.base.sample import Sample
from ragassay.base.subsets import Subset
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.results.score_columns import fields_of
from ragassay.formats.records.chosen_columns import ChosenColumns
from ragassay.formats.records.field_names import field_of
from ragassay.formats.sources import opening

_OF_QUESTIONS = {"id", "query", "history", "references", "reference_groups"}
_OF_QUESTIONS |= {"negative_references", "gold", "gold_ids", "answerability"}
"""The fields of a file of references."""


def with_references(
    samples: Iterable[Sample],
    path: str | Path,
    columns: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
    are_all: bool = True,
) -> Iterator[Sample]:
    """The samples with the references that a file holds for them.

    Records of the file (any format) are joined to samples by id, else by their query, if only one
    record has it; they also give gold, labels and wrong answers. A sample without a record stays
    unchanged; a warning says how many have none. Where the samples ``are_all``, one says how many
    records have no sample, and that no sample has one is an error."""
    path = Path(path)
    questions = formats.Questions(path, _questions(path, columns, _encoding(path, encoding)))
    yield from questions.joined(samples, are_all)
    how = ", ".join(f"{n:,} {way}" for way, n in sorted(questions.ways.items())) or "none"
    for kind, n in sorted((+questions.notes).items()):
        warn_user(str(Note(kind, {"file": called(path), "n": n, "how": how})))


def _encoding(path: Path, encoding: str | None) -> str | None:
    """The encoding of a file of references, where the samples' is ``encoding``: text beyond ASCII
    that is UTF-8 is read as that, since text in another encoding is hardly ever UTF-8 by chance."""
    if encoding is None:
        return None
    try:
        text = opening.read_all(path).decode()
    except (InputError, UnicodeDecodeError):
        return encoding
    return encoding if text.isascii() else None


def _questions(
    path: Path, columns: Mapping[str, Sequence[str]] | None, encoding: str | None
) -> list[Sample]:
    """The records of a file of questions; an error where they expect nothing, or where nothing says
    which sample they belong to."""
    given = formats.MapperOptions(columns=columns or None, encoding=encoding, notes=formats.Notes())
    expected: list[Sample] = []
    try:
        expected = formats.load(path, **given)
    except InputError as error:
        if "none is recognised" not in error.problem:
            raise
    expects = any(s.references or s.gold or s.answerability is not None for s in expected)
    if expects and any(sample.query is not None for sample in expected):
        return expected
    placement = formats.place(path, **given)
    placed, suggested = placement.placed, placement.suggested
    if expects and (not placed or "id" in placed):
        return expected
    wanted, name, column = "'id' or 'query'", "query", suggested.get("query")
    if not expects:
        # A column that looks like an answer is the expected answer here: no system gave it.
        wanted, name = "'expected_answer' or 'references'", "references"
        column = suggested.get("references") or placed.get("answer") or suggested.get("answer")
    option = formats.OptionWords().columns(name, column or "<your column>")
    found = ", ".join(dict.fromkeys((*placed.values(), *placement.unplaced)))
    raise InputError(
        f"there is no column {wanted}, or it is empty. Found: {found}",
        path=path,
        hint=f"Name the columns of this file, for example {option}.",
    )


Data = str | Path | Iterable[Any]
"""A path or several (see `ragassay.formats.files_of`), an iterable of `Sample`s or mappings, or a
data frame."""


_ONE_A_LINE = {"jsonl", "ultrarag", "mtrag", "trec_rag", "csv", "tsv", "mlcube"}


@dataclass
class Source:
    """Samples that can be streamed once; ``joined`` are the files of what is expected of them, and
    ``n_records`` counts those of data in memory."""

    samples: Iterator[Sample]
    title: str
    format: str
    paths: Sequence[Path] = ()
    joined: tuple[Path, ...] = ()
    n_records: int | None = None
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)

    def count(self) -> int | None:
        """The largest possible number of samples, where that is cheap to know: one a line, or one a
        record in memory; else ``None``."""
        if self.n_records is not None or not self.paths or self.format not in _ONE_A_LINE:
            return self.n_records
        n = 0
        for path in map(opening.on_disk, self.paths):
            if not path.is_file():
                return None
            with path.open("rb") as stream:
                if stream.peek(2).startswith(b"\x1f\x8b"):
                    return None  # compressed
                n += sum(1 for _ in stream)
        return n

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:...``: of the files' bytes, or of the samples that were read from memory (then
        it must be asked for after the last of them)."""
        for path in (*map(opening.on_disk, self.paths), *self.joined):
            inner = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
            for item in inner:
                with item.open("rb") as stream:
                    hashlib.file_digest(stream, lambda: self._hash)
        return f"sha256:{self._hash.hexdigest()}"


def paths_of(data: Data) -> str | Path | Sequence[str | Path] | None:
    """The paths that data is named by; ``None`` for data in memory."""
    if isinstance(data, str | Path):
        return data
    if isinstance(data, list | tuple) and data and all(isinstance(x, str | Path) for x in data):
        return data
    return None


def format_of(data: Data, config: RunConfig) -> str:
    """The name of the data's format; of data in memory ``memory``, or ML cube's by its columns."""
    if (paths := paths_of(data)) is not None:
        return config.format or formats.detect(paths, config.encoding).name
    first = data[0] if isinstance(data, list) and data else None
    names = first if isinstance(first, Mapping) else getattr(data, "columns", ())
    head = formats.Head(Path(), "", "memory", tuple(map(str, names)))
    return "mlcube" if formats.get("mlcube").sniff(head) else "memory"


def open_source(
    data: Data, config: RunConfig, *, refuse_joined: bool = False, first_runs: bool = False
) -> Source:
    """The samples of ``data``, with gold passages joined from ``config.qrels``, golden answers
    from ``config.references``, and both and more from ``config.golden``."""
    own: formats.Columns = config.columns
    of_references = None
    if config.references is not None and own:
        own, of_references = _columns(data, config, Path(config.references))
    bounded = config.from_timestamp is not None or config.to_timestamp is not None
    limit = None if config.where else config.limit  # of a subset the first so many count
    at_once = None if first_runs or bounded else limit
    source = _opened(data, config, own, {"refuse_joined": refuse_joined}, at_once)
    if bounded:
        source.samples = _within(source.samples, config, next(iter(source.paths), None))
    if first_runs:
        source.samples = _first_runs(source.samples)
    source.samples = islice(source.samples, limit)
    if config.references is not None:
        path = Path(config.references)
        source.joined += (path,)
        source.samples = with_references(
            source.samples, path, of_references, config.encoding, limit is None
        )
    if config.golden is not None:
        folder = Path(config.golden)
        source.joined += (folder / golden.QUERIES,)
        source.samples = golden.joined(source.samples, folder, drafts=config.golden_drafts)
    if config.where:
        subset = Subset(config.where, field_of)
        source.samples = islice(subset.of(source.samples, fields_of), config.limit)
        source.title = f"{source.title} where {subset}"
    return source


def _columns(
    data: Data, config: RunConfig, references: Path
) -> tuple[formats.Columns, Mapping[str, Sequence[str]]]:
    """The chosen columns of the data, and those of the file of references: each column counts in
    the file that has it."""

    def held(path: Path, reader: Any, **more: Any) -> formats.Held:
        options: formats.MapperOptions = {"columns": config.columns, **more}  # type: ignore[typeddict-item]
        reader = reader or formats.detect(path, options["encoding"])
        return formats.source_columns((reader, path), options)

    asked = held(references, None, encoding=_encoding(references, config.encoding))
    asked = {name: column for name, column in asked.items() if name in _OF_QUESTIONS}
    looked = []
    data_paths = paths_of(data)
    if data_paths is not None:
        chosen = formats.get(config.format) if config.format else None
        more = {"encoding": config.encoding, "sheet": config.sheet}
        looked = [held(path, chosen, **more) for path in formats.files_of(data_paths)]
    elif (record := _record_of(data)) is not None:
        looked.append(ChosenColumns(config.columns).held(record))
    return formats.columns_of_data(config.columns, looked, [asked]), asked


def _record_of(data: Any) -> Mapping[str, Any] | None:
    """A record of data in memory, or a mapping with its keys; ``None`` where only reading tells."""
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        return data[0]
    if isinstance(data, Mapping):  # a list for each column, or a data set for each split
        several = any(hasattr(value, "column_names") for value in data.values())
        return None if several else data
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is None:
        return None
    index = getattr(getattr(data, "index", None), "names", ())  # pandas: a named one is a column
    return dict.fromkeys(map(str, (*names, *index)))


def _opened(
    data: Data,
    config: RunConfig,
    columns: formats.Columns,
    options: Mapping[str, Any],
    limit: int | None,
) -> Source:
    same = ("separator", "single_chunk", "system", "encoding", "sheet", "passages_from")
    reading: dict[str, Any] = {name: getattr(config, name) for name in same}
    qrels = None if config.qrels is None else Path(config.qrels)
    reading |= {"columns": columns or None, "gold": qrels, **options}
    joined = () if qrels is None else (qrels,)
    data_paths = paths_of(data)
    if data_paths is None:
        if not (hasattr(data, "__iter__") or hasattr(data, "columns")):
            kind, cases = type(data).__name__, "its .test_cases, " * hasattr(data, "test_cases")
            ways = f"{cases}a path, a list of records or a data frame"
            raise UsageError(f"{kind} is not data. Give {ways}.")
        digest = hashlib.sha256()
        samples = _hashed(formats.from_records(data, **reading), digest)
        # Samples of a file that is still being written have its name.
        title = Path(config.data).name if isinstance(config.data, str) else "samples in memory"
        # A mapping holds a list for each column.
        n = len(data) if isinstance(data, Sized) and not isinstance(data, Mapping) else None
        return Source(samples, title, "memory", joined=joined, n_records=n, _hash=digest)
    paths = formats.files_of(data_paths)
    name = format_of(data, config)
    if name == "trec_run" and qrels is None:
        raise UsageError(
            f"{paths[0]} is a TREC run or its judgements, and needs the other: "
            "give the run, and --qrels FILE."
        )
    reading["format"] = config.format or (name if len(paths) == 1 else None)
    samples = formats.read(paths, **reading, limit=limit)
    title = "standard input" if paths[0] == Path(opening.STANDARD_INPUT) else paths[0].name
    more = f" and {plural(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
    if isinstance(data_paths, str | Path) and (folder := Path(data_paths)).is_dir():
        title, more = folder.resolve().name, ""
    return Source(samples, title + more, name, paths, joined)


def _within(samples: Iterator[Sample], config: RunConfig, path: Path | None) -> Iterator[Sample]:
    """The samples whose time lies in the chosen interval. Warns of those that it leaves out."""
    first = -math.inf if config.from_timestamp is None else config.from_timestamp
    last = math.inf if config.to_timestamp is None else config.to_timestamp
    inside = outside = undated = 0
    for sample in samples:
        if sample.timestamp is None:
            undated += 1
        elif first <= sample.timestamp <= last:
            inside += 1
            yield sample
        else:
            outside += 1
    left_out = [f"{outside:,} outside of it (--from, --to)"] * bool(outside)
    left_out += [f"{undated:,} without a timestamp"] * bool(undated)
    if not inside:
        problem = f"no sample lies in the time interval: {' and '.join(left_out)}"
        hint = "Both ends are included; a time without a zone is UTC."
        raise InputError(problem, path=path, hint=hint)
    if left_out:
        warn_user(str(Note("left_out_by_time", {"left_out": " and ".join(left_out)})))


def _first_runs(samples: Iterable[Sample]) -> Iterator[Sample]:
    """The first run of each query and system, held in memory. Warns of the others."""
    first: dict[tuple[str, str], Sample] = {}
    left_out = 0
    for sample in samples:
        before = first.setdefault((sample.id, sample.system), sample)
        left_out += before is not sample
        if sample.repeat < before.repeat:
            first[sample.id, sample.system] = sample
    yield from first.values()
    if left_out:
        warn_user(str(Note("first_runs", {"n": left_out})))


def _hashed(samples: Iterator[Sample], digest: hashlib._Hash) -> Iterator[Sample]:
    for sample in samples:
        digest.update(dumps(formats.to_record(sample)))
        yield sample
