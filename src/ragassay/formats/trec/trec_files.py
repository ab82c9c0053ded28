"""TREC qrels and runs, and BEIR qrels; also as JSON ``{query: {document: number}}``, JSON Lines and
Parquet with a row for each query and document. Lines are split at tabs where these separate all
columns, else at blanks; comments and blank lines are left out; all may be gzip. trec_eval's
judgements of groups, preferences and z-scores, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ragassay.base.errors import InputError, called, warn_user
from ragassay.base.printable import share
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.records.field_names import NAMES
from ragassay.formats.records.field_values import is_number
from ragassay.formats.sources import json_files, opening
from ragassay.formats.sources.json_files import parse_json, whole_object
from ragassay.formats.sources.opening import lines, opened, placed
from ragassay.formats.trec.trec_tables import NUMBER, Layout, fields_of, read_table, second_line

if TYPE_CHECKING:
    import polars as pl


def chosen(names: Iterable[str], number: str) -> dict[str, str] | None:
    """The columns of query, document and number (``score`` or ``grade``); ``None`` if one lacks."""
    known = {name.casefold(): name for name in names}
    found = {}
    for part in ("query", "document", number):
        found[part] = next((known[name] for name in NAMES[f"trec.{part}"] if name in known), "")
    return found if all(found.values()) else None


def is_mapping(value: Any) -> bool:
    """Whether a JSON value begins like ``{query: {document: number}}``, whatever else it holds."""
    if not isinstance(value, Mapping):
        return False
    inner = list(islice(value.values(), 20))
    if not all(isinstance(item, Mapping) for item in inner):
        return False
    values = [value for item in inner for value in islice(item.values(), 20)]
    holds_more = any(isinstance(value, Mapping | list) for value in values)
    return any(map(is_number, values)) and not holds_more


def read_other(path: Path, number: str) -> pl.DataFrame | None:
    """A frame of ``query``, ``document`` and the number, in the order of the file; ``None`` where
    the file is text with columns. The number is a ``score``, or a ``grade``, which is whole."""
    with opened(path) as stream:
        start = stream.read(64).lstrip()
    if start[:4] == b"PAR1":
        return _of_parquet(path, number)
    first = json_files.first_record(path) if start[:1] in (b"{", b"[") else {}
    if not first and ".json" not in "".join(path.suffixes):
        return None  # columns, of which the first may begin so
    if chosen(first, number):
        query, document, value = (chosen(first, number) or {}).values()
        rows: Iterable[tuple[int, Any, Any, Any]] = (
            (line, record.get(query), record.get(document), record.get(value))
            for line, record in json_files.json_records(path)
        )
    elif is_mapping(first):
        rows = _of_mapping(whole_object(path), path)
    else:
        parse_json(opening.read_all(path), path)
        raise wrong("no_trec_json", path=path, number=number)
    return _frame(rows, number, path)


def _of_mapping(value: Mapping[str, Any], path: Path) -> Iterator[tuple[int, str, str, Any]]:
    for query, documents in value.items():
        if not isinstance(documents, Mapping):
            raise wrong("no_documents", path=path, field=query)
        yield from ((0, query, document, number) for document, number in documents.items())


def _of_parquet(path: Path, number: str) -> pl.DataFrame:
    import polars as pl

    with opening.by_polars(path, "Parquet"):
        frame = pl.read_parquet(opening.on_disk(path), glob=False)
    names = chosen(frame.columns, number)
    if names is None:
        columns = ", ".join(frame.columns)
        raise wrong("no_trec_columns", path=path, columns=columns, number=number)
    rows = frame.select(names.values()).iter_rows()
    return _frame(((at, *row) for at, row in enumerate(rows, 1)), number, path)


def _frame(rows: Iterable[tuple[int, Any, Any, Any]], number: str, path: Path) -> pl.DataFrame:
    import polars as pl

    kept: list[tuple[str, str, float]] = []
    for at, query, document, value in rows:
        place: dict[str, Any] = {"path": path, "line": at or None}
        for name, item in (("query", query), ("document", document)):
            if not isinstance(item, str | int) or isinstance(item, bool) or item == "":
                raise wrong("no_id", field=name, id=item, **place)
        is_finite = is_number(value) and abs(value) < float("inf")
        fault = None if is_finite else unexpected(value, "a finite number", number)
        if fault is None and number == "grade" and value != int(value):
            fault = wrong("broken_grade", field="grade", shown=str(value))
        if fault is not None:
            where = f"query {query!r}, document {document!r}"
            raise fault.but(problem=f"{where}: {fault.problem}", **place)
        kept.append((str(query), str(document), value))
    if not kept:
        raise wrong("no_query", path=path)
    kind = pl.Int64() if number == "grade" else pl.Float64()
    columns = cast("Any", {"query": pl.String(), "document": pl.String(), number: pl.Float64()})
    return pl.DataFrame(kept, schema=columns, orient="row", strict=False).cast({number: kind})


class TrecRun(NamedTuple):
    """A run file: its tag (of the last line) and a frame of ``query``, ``document``, ``score``."""

    tag: str
    frame: pl.DataFrame


_RUN = Layout("run", ("query", "_Q0", "document", "rank", "score", "tag"), "score", False)
_QRELS = Layout("qrels file", ("query", "_iteration", "document", "grade"), "grade", True)
_BEIR_NAMES = {"query-id": "query", "corpus-id": "document", "score": "grade"}


def read_run(path: Path) -> TrecRun:
    """A TREC run in the order of its lines. Repeated documents are not checked for. Where the rank
    column contradicts the scores, a `RagassayWarning` says so."""
    tag = path.stem
    if (frame := read_other(path, "score")) is None:
        frame = read_table(path, _RUN)
        tag = str(frame["tag"][-1])
        if n := _n_contradicted(frame):
            warn_user(
                f"{called(path)}: in {share(n, frame['query'].n_unique(), 'query')} the rank "
                "column contradicts the scores. Ranks follow from the scores, as in trec_eval."
            )
        frame = frame.drop("rank", "tag")
    _tell_equal_scores(frame, path)
    return TrecRun(tag, frame)


def _tell_equal_scores(run: pl.DataFrame, path: Path) -> None:
    """Warns where the run holds queries whose documents all have one score."""
    import polars as pl

    score = pl.col("score")
    queries = run.group_by("query").agg(equal=(score.min() == score.max()), n=pl.len())
    several = queries.filter(pl.col("n") > 1)
    tied = several.filter("equal")
    if not tied.is_empty():
        are_all = tied.height == several.height
        nothing = ": the values say nothing about the system" if are_all else ""
        warn_user(
            f"{called(path)}: in {share(tied.height, queries.height, 'query')} all documents have "
            f"the same score ({share(int(tied['n'].sum()), run.height, 'document')}). The order "
            f"among ties is decided by id, descending, as in trec_eval{nothing}."
        )


def _n_contradicted(run: pl.DataFrame) -> int:
    """In how many queries a document with a higher score also has a higher rank number."""
    import polars as pl

    ranks = run["rank"].cast(pl.Int32, strict=False)
    if ranks.has_nulls():  # no whole numbers
        return 0
    run = run.with_columns(rank=ranks)
    same = pl.col("query") == pl.col("query").shift()
    rising = pl.col("score") > pl.col("score").shift()
    if run.filter(same & (rising | (pl.col("rank") < pl.col("rank").shift()))).is_empty():
        return 0  # the usual case needs no sorting
    ordered = run.sort("query", "score", "rank", descending=[False, True, False])
    return ordered.filter(same & (pl.col("rank") < pl.col("rank").shift()))["query"].n_unique()


def read_qrels(path: Path) -> pl.DataFrame:
    """TREC or BEIR qrels: a frame of ``query``, ``document``, ``grade`` in the order of the lines.
    Of a BEIR folder ``qrels/test.tsv``, or its only file in ``qrels``, is read."""
    if path.is_dir():
        path = _beir_file(path)
        others = sorted(other.name for other in path.parent.glob("*.tsv") if other != path)
        if others:
            warn_user(f"{path.parent}: {path.name} was read, not {', '.join(others)}.")
    if (other := read_other(path, "grade")) is not None:
        return other
    layout = _beir_layout(path) or _QRELS
    _, fields = next(fields_of(path, layout), (0, []))
    if len(fields) >= len(_RUN.columns) and fields[1] == b"Q0" and NUMBER.fullmatch(fields[4]):
        raise wrong("run_for_qrels", path=path)
    return read_table(path, layout).select("query", "document", "grade")


def read_qrels_by_query(path: Path) -> Mapping[str, Mapping[str, int]]:
    """The grade of each document, by query, in the file's order. One judged twice is an error."""
    by_query: dict[str, dict[str, int]] = {}
    frame = read_qrels(path)
    for query, document, grade in frame.iter_rows():
        grades = by_query.setdefault(query, {})
        if document in grades:
            raise repeated(path, query, document, run=False)
        grades[document] = grade
    return by_query


def repeated(path: Path, query: str, document: str, *, run: bool) -> InputError:
    """The error for a document twice under one query of a run or qrels, with the second line."""
    if not run and path.is_dir():
        path = _beir_file(path)
    layout = _RUN if run else _beir_layout(path) or _QRELS
    key = {"query": query, "document": document}
    return wrong("document_twice", path=path, line=second_line(path, layout, key), **key)


def _beir_layout(path: Path) -> Layout | None:
    """The layout of a file whose first line is BEIR's header; ``None`` for any other file."""
    with opened(path) as stream:
        first = stream.readline(4096).rstrip(b"\r\n").split(b"\t")
    names = [name.strip().decode(errors="replace").casefold() for name in first]
    if not set(_BEIR_NAMES) <= set(names):
        return None
    columns = tuple(_BEIR_NAMES.get(name, f"_{name}") for name in names)
    return Layout("BEIR qrels file", columns, "grade", True, b"\t", True)


def _beir_file(folder: Path) -> Path:
    for place in (folder / "qrels", folder):
        files = sorted(place.glob("*.tsv"))
        test = [file for file in files if file.name == "test.tsv"]
        if len(test or files) == 1:
            return (test or files)[0]
        if files:
            names = ", ".join(file.name for file in files)
            raise wrong("several_qrels", path=place, names=names)
    raise wrong("no_qrels", path=folder)


GROUPED = Layout("qrels file", ("query", "group", "document", "grade"), "grade", True)
LEVELS = Layout("qrels file", ("query", "group", "document", "level"), "level", False)
PREFERENCES = Layout(
    "preferences file", ("query", "group", "subgroup", "document", "level"), "level", False
)
"""Judgements of several groups: qrels, qrels whose grades are levels of preference, preferences."""


def read_distinct(path: Path, layout: Layout) -> pl.DataFrame:
    """The file's columns. Two rows that differ in the number alone are an error."""
    frame = read_table(path, layout)
    key = [name for name in layout.columns if name != layout.number]
    keys = frame.select(key)
    repeated = keys.filter(keys.is_duplicated())
    if len(repeated):
        row = repeated.row(0, named=True)
        once = f"{', '.join(key[:-1])} and {key[-1]}"
        line = second_line(path, layout, row)
        raise wrong("document_twice_in_group", path=path, line=line, once=once, **row)
    return frame


class Moments(NamedTuple):
    """Mean and standard deviation of a measure's values for a query."""

    mean: float
    deviation: float


def read_scales(path: Path) -> Mapping[tuple[str, str], Moments]:
    """A z-score file, as `Moments` by query and measure: lines of these, mean and deviation."""
    scales: dict[tuple[str, str], Moments] = {}
    for number, raw in lines(path):
        fields = raw.decode(errors="replace").split()
        if not fields or fields[0].startswith("#"):
            continue
        with placed(path, number):
            if len(fields) != 4:
                raise wrong("z_score_columns", n=len(fields))
            query, measure, *numbers = fields
            try:
                scale = Moments(*map(float, numbers))
            except ValueError:
                scale = Moments(np.nan, np.nan)
            if not np.isfinite(scale).all() or scale.deviation < 0:
                raise wrong("no_moments", shown=" ".join(numbers))
            if (query, measure) in scales:
                raise wrong("measure_twice", measure=measure, query=query)
            scales[query, measure] = scale
    return scales
