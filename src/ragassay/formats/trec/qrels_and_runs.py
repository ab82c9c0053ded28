"""TREC qrels and runs, and BEIR qrels.

A run has six columns (query, ``Q0``, document, rank, score, tag), qrels have four (query,
iteration, document, grade). A line with tabs between all of them is split at the tabs, any other
one at blanks; one with more or fewer columns is an error, as in trec_eval. Blank lines, lines that
begin with ``#`` and such a comment at the end of a line are left out. Ranks follow from the scores;
a rank column that contradicts them causes a warning. BEIR qrels are tab-separated with the header
``query-id``, ``corpus-id``, ``score``. All may be gzip. JSON and Parquet: `json_and_parquet`.

polars reads a file at once. Only where that meets something unexpected is the file read again line
by line, which finds the faulty line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragassay.counts import share
from ragassay.errors import InputError, called, warn_user
from ragassay.formats.sources import opened, placed, read_all, standard_input, unpacking
from ragassay.formats.trec.json_and_parquet import not_whole, read_other

if TYPE_CHECKING:
    import polars as pl


class TrecRun(NamedTuple):
    """A run file: its tag (of the last line) and a frame of ``query``, ``document``, ``score``."""

    tag: str
    frame: pl.DataFrame


@dataclass(frozen=True)
class Layout:
    """The columns of a file. Those that begin with ``_`` are left out.

    Attributes:
        what: what the file is called in messages.
        columns: their names, in order.
        number: the column that holds numbers; the others are texts.
        whole_numbers: whether they are whole numbers.
        separator: what separates them; ``None`` stands for any blanks.
        header: whether the first line names the columns.
        aside: one of the columns that are left out, which is read all the same where it holds whole
            numbers and polars reads the file at once.
    """

    what: str
    columns: tuple[str, ...]
    number: str
    whole_numbers: bool
    separator: bytes | None = None
    header: bool = False
    aside: str = ""

    @property
    def results(self) -> list[str]:
        """The columns that are read into the result."""
        return [name for name in self.columns if not name.startswith("_")]


_RUN = Layout(
    "run", ("query", "_Q0", "document", "_rank", "score", "tag"), "score", False, aside="_rank"
)
_QRELS = Layout("qrels file", ("query", "_iteration", "document", "grade"), "grade", True)
_BEIR_NAMES = {"query-id": "query", "corpus-id": "document", "score": "grade"}
_BLOCK = 1 << 18
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE_NUMBER = re.compile(rb"[+-]?\d{1,15}(\.0*)?|[+-]?\d{1,18}")
_NO_NUMBER = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def read_run(path: Path) -> TrecRun:
    """A TREC run in the order of its lines. Repeated documents are not checked for.

    Where the rank column contradicts the scores, a `RagassayWarning` says so.

    Raises:
        InputError: the file cannot be read, a line has not six columns or is not UTF-8, or a
            score is not a finite number.
    """
    tag = path.stem
    if (frame := read_other(path, "score")) is None:
        frame = read_table(path, _RUN)
        tag = str(frame["tag"][-1])
        frame = frame.drop("tag")
    _tell_equal_scores(frame, path)
    if "_rank" in frame.columns:
        if n := _n_contradicted(frame):
            warn_user(
                f"{called(path)}: in {share(n, frame['query'].n_unique(), 'query')} the rank "
                "column contradicts the scores. Ranks follow from the scores, as in trec_eval."
            )
        frame = frame.drop("_rank")
    return TrecRun(tag, frame)


def _tell_equal_scores(run: pl.DataFrame, path: Path) -> None:
    """Warns where the run holds queries whose documents all have one score."""
    import polars as pl

    block = run.select(query=pl.col("query").rle_id(), score=pl.col("score"))
    queries = block.group_by("query").agg(
        equal=(pl.col("score").min() == pl.col("score").max()), n=pl.len()
    )
    several = queries.filter(pl.col("n") > 1)
    tied = several.filter("equal")
    if not tied.is_empty():
        nothing = (
            ": the values say nothing about the system" if tied.height == several.height else ""
        )
        warn_user(
            f"{called(path)}: in {share(tied.height, queries.height, 'query')} all documents have "
            f"one score ({share(int(tied['n'].sum()), run.height, 'document')}). The order among "
            f"ties is decided by id, descending, as in trec_eval{nothing}."
        )


def _n_contradicted(run: pl.DataFrame) -> int:
    """In how many queries a document with a higher score also has a higher rank number."""
    import polars as pl

    ranked = run.select(pl.col("query").rle_id(), "score", "_rank")
    block, score, rank = (ranked[name].to_numpy() for name in ("query", "score", "_rank"))
    in_order = (score[1:] <= score[:-1]) & (rank[1:] >= rank[:-1])
    if (in_order | (block[1:] != block[:-1])).all():
        return 0  # the usual case needs no sorting
    ordered = run.sort("query", "score", "_rank", descending=[False, True, False])
    same = pl.col("query") == pl.col("query").shift()
    return ordered.filter(same & (pl.col("_rank") < pl.col("_rank").shift()))["query"].n_unique()


def read_qrels(path: Path) -> pl.DataFrame:
    """TREC or BEIR qrels: a frame of ``query``, ``document``, ``grade`` in the order of the lines.

    ``path`` may be a BEIR folder: its ``qrels/test.tsv``, or its only file in ``qrels``, is read;
    where ``test.tsv`` is one of several, a `RagassayWarning` says so.

    Raises:
        InputError: the file cannot be read, a line has other columns or is not UTF-8, a grade is
            not a whole number, or a folder does not say which file is meant.
    """
    if path.is_dir():
        path = _beir_file(path)
        others = sorted(other.name for other in path.parent.glob("*.tsv") if other != path)
        if others:
            warn_user(f"{path.parent}: {path.name} was read, not {', '.join(others)}.")
    if (other := read_other(path, "grade")) is not None:
        return other
    layout = _beir_layout(path) or _QRELS
    _, fields = next(fields_of(path, layout), (0, []))
    if len(fields) >= len(_RUN.columns) and fields[1] == b"Q0" and _NUMBER.fullmatch(fields[4]):
        raise InputError("this is a run, not qrels", path=path, hint="Name the qrels first.")
    return read_table(path, layout).select("query", "document", "grade")


def read_qrels_by_query(path: Path) -> Mapping[str, Mapping[str, int]]:
    """The grade of each document, by query, in the order of the file.

    Raises:
        InputError: see `read_qrels`; also a document that is judged twice for one query.
    """
    by_query: dict[str, dict[str, int]] = {}
    frame = read_qrels(path)
    for query, document, grade in frame.iter_rows():
        grades = by_query.setdefault(query, {})
        if document in grades:
            raise repeated(path, query, document, run=False)
        grades[document] = grade
    return by_query


def repeated(path: Path, query: str, document: str, *, run: bool) -> InputError:
    """The error for a document that occurs twice for one query in a run or qrels file, with the
    line of the second occurrence.

    Args:
        path: the file.
        query: the query's id.
        document: the document's id.
        run: whether the file is a run; else it is qrels.
    """
    if not run and path.is_dir():
        path = _beir_file(path)
    layout = _RUN if run else _beir_layout(path) or _QRELS
    return InputError(
        f"document {document!r} occurs a second time for query {query!r}",
        path=path,
        line=second_line(path, layout, {"query": query, "document": document}),
        hint="Keep one line for each query and document.",
    )


def second_line(path: Path, layout: Layout, wanted: Mapping[str, str]) -> int | None:
    """The number of the second line that has these values; ``None`` where there is none.

    Args:
        path: the file.
        layout: its columns.
        wanted: a value by the name of its column.
    """
    values = {layout.columns.index(name): value.encode() for name, value in wanted.items()}
    lines = (
        number
        for number, fields in fields_of(path, layout)
        if len(fields) > max(values) and all(fields[at] == value for at, value in values.items())
    )
    return next(islice(lines, 1, None), None)


def no_overlap(in_run: str, in_qrels: str, path: object | None = None) -> InputError:
    """The error for a run none of whose queries is judged.

    Args:
        in_run: the id of a query of the run.
        in_qrels: the id of a query of the qrels.
        path: the run's file.
    """
    return InputError(
        f"no query of the run is judged (the run has {in_run!r}, the qrels have {in_qrels!r})",
        path=path,
        hint="Check that run and qrels belong together and spell query ids alike.",
    )


def read_table(path: Path, layout: Layout) -> pl.DataFrame:
    """The kept columns of a file, in the order of its lines.

    Args:
        path: the file.
        layout: its columns.

    Returns:
        A frame of the kept columns: texts, and the column of numbers.

    Raises:
        InputError: the file cannot be read or has no lines, a line has other columns or is not
            UTF-8, or a number is not one.
    """
    import polars as pl

    with opened(path):
        pass  # says at once what is wrong with the file as such
    frame = _read_fast(path, layout, layout.aside) if layout.aside else None
    if frame is None or frame[layout.aside].has_nulls():
        frame = _read_fast(path, layout)
    if frame is not None:
        is_complete = not any(frame.null_count().row(0))
        if is_complete and frame[layout.number].is_finite().all():
            return frame
    rows: list[list[str | int | float]] = []
    for line, fields in fields_of(path, layout):
        with placed(path, line):
            rows.append(_checked_row(fields, layout))
    if not rows:
        raise InputError(f"the {layout.what} has no lines but comments", path=path)
    types = {name: pl.String() for name in layout.results} | {layout.number: _number_type(layout)}
    return pl.DataFrame(rows, schema=types, orient="row")


def _read_fast(path: Path, layout: Layout, aside: str = "") -> pl.DataFrame | None:
    """The frame, or ``None`` where anything is unexpected."""
    import polars as pl

    path = standard_input.on_disk(path)
    plain = _plain(path, layout)
    source: str | bytes
    if plain is not None:
        source, (separator, n_separators, n_lines) = str(path), plain
    else:
        source, separator = _tidy(read_all(path), layout)
        n_separators, n_lines = source.count(separator), len(source.splitlines())
    # A line with more columns shows here, unless another one has fewer, which gives nulls.
    if not n_lines or n_separators != n_lines * (len(layout.columns) - 1):
        return None
    wanted = {*layout.results, aside}
    types = {layout.number: _number_type(layout), aside: pl.Int32()}
    try:
        return pl.read_csv(
            source,
            separator=separator.decode(),
            has_header=False,
            skip_rows=int(layout.header),
            quote_char=None,
            columns=[at for at, name in enumerate(layout.columns) if name in wanted],
            schema={name: types.get(name, pl.String()) for name in layout.columns},
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None


def _number_type(layout: Layout) -> pl.DataType:
    import polars as pl

    return pl.Int64() if layout.whole_numbers else pl.Float64()


def _separator(line: bytes, layout: Layout) -> bytes:
    """A tab where it separates all columns of a line, or all have to be separated by it; else a
    space."""
    tabs = line.count(b"\t") == len(layout.columns) - 1
    return layout.separator or (b"\t" if tabs else b" ")


def _plain(path: Path, layout: Layout) -> tuple[bytes, int, int] | None:
    """Separator, number of separators and number of lines of a file whose lines have fields with
    one space (or one tab) between them.

    ``None`` where the file has to be tidied (or decompressed) first.
    """
    n_separators = n_lines = 0
    with path.open("rb", buffering=0) as raw:
        block = raw.read(_BLOCK)
        separator = _separator(block.split(b"\n", 1)[0], layout)
        if block[0] <= 32 or block[0] >= 0x7F:  # a blank, gzip, a byte order mark
            return None
        last = b""
        while block:
            if (separator == b" " and b"\t" in block) or b"#" in block or b"\r" in block:
                return None
            blank = np.frombuffer(last + block, np.uint8) <= 32
            if (blank[1:] & blank[:-1]).any():  # an empty field, a blank line, an indent
                return None
            n_separators += block.count(separator)
            n_lines += block.count(b"\n")
            last, block = block[-1:], raw.read(_BLOCK)
    return separator, n_separators, n_lines + (last != b"\n")


def _tidy(text: bytes, layout: Layout) -> tuple[bytes, bytes]:
    """The same lines with one separator between fields, without comments and blank lines; and the
    separator."""
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = text.lstrip(b"\n")
    separator = _separator(text.split(b"\n", 1)[0], layout)
    if separator == b" ":
        text = text.translate(bytes.maketrans(b"\t\v\f", b"   "))
        while b"  " in text:
            text = text.replace(b"  ", b" ")
        text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    elif layout.separator is None:
        text = re.sub(rb"(?m)^ +| +$| *(\t) *", rb"\1", text)
    if layout.separator is None and b"#" in text:
        text = re.sub(rb"(?m)^#.*(\n|\Z)", b"", text)
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.lstrip(b"\n"), separator


def fields_of(path: Path, layout: Layout) -> Iterator[tuple[int, list[bytes]]]:
    """The number and fields of each line, without comments, blank lines and the header.

    Args:
        path: the file.
        layout: its columns.

    Raises:
        InputError: the file cannot be read.
    """
    number, header = 0, layout.header
    with opened(path) as stream:
        for raw in unpacking.lines(stream, path):
            for line in raw.splitlines():
                number += 1
                comment = layout.separator is None and line.lstrip().startswith(b"#")
                if not line.strip() or comment:
                    continue
                if header:
                    header = False
                else:
                    yield number, _split(line, layout)


def _split(line: bytes, layout: Layout) -> list[bytes]:
    """The fields of a line, without a comment behind them."""
    if (separator := _separator(line, layout)) == b"\t":
        fields = line.split(separator)
        return fields if layout.separator else [field.strip() for field in fields]
    fields = line.split()
    n = len(layout.columns)
    return fields[:n] if len(fields) > n and fields[n].startswith(b"#") else fields


def _checked_row(fields: list[bytes], layout: Layout) -> list[str | int | float]:
    """The kept fields of a line, which is checked."""
    names = ", ".join(name.lstrip("_") for name in layout.columns)
    if len(fields) != len(layout.columns):
        raise InputError(
            f"{len(fields)} columns stand where a {layout.what} has {len(layout.columns)}",
            hint=f"The columns are {names}.",
        )
    row: list[str | int | float] = []
    for name, raw in zip(layout.columns, fields, strict=True):
        if name == layout.number:
            row.append(_number(raw, layout, f"The columns are {names}."))
        elif not name.startswith("_"):
            if not raw:
                raise InputError("the field is empty", field=name)
            row.append(raw.decode())
    return row


def _number(raw: bytes, layout: Layout, hint: str) -> int | float:
    pattern = _WHOLE_NUMBER if layout.whole_numbers else _NUMBER
    fits = pattern.fullmatch(raw)
    if fits and layout.whole_numbers:
        return int(raw.partition(b".")[0])
    if fits and np.isfinite(float(raw)):
        return float(raw)
    shown = raw.decode(errors="replace")
    if layout.whole_numbers:
        decimal = _NUMBER.fullmatch(raw)
        raise (
            not_whole(shown)
            if decimal
            else InputError(f"{shown!r} is not a whole number", field=layout.number, hint=hint)
        )
    kind = "a finite number" if fits or _NO_NUMBER.fullmatch(raw) else "a number"
    raise InputError(f"{shown!r} is not {kind}", field=layout.number, hint=hint)


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
            raise InputError(
                f"this folder has several qrels: {', '.join(file.name for file in files)}",
                path=place,
                hint="Name one of these files.",
            )
    raise InputError("this folder has no qrels/*.tsv", path=folder, hint="Name a qrels file.")
