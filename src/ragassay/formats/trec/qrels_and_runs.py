"""TREC qrels and runs, and BEIR qrels.

A run has six columns (query, ``Q0``, document, rank, score, tag), qrels have four (query,
iteration, document, grade). A line with tabs between all of them is split at the tabs, any other
one at blanks; one with more or fewer columns is an error, as in trec_eval. Blank lines, lines that
begin with ``#`` and such a comment at the end of a line are left out. Ranks follow from the scores;
a rank column that contradicts them causes a warning. BEIR qrels are tab-separated with the header
``query-id``, ``corpus-id``, ``score``. All may be gzip. JSON and Parquet: `json_and_parquet`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragassay.base.counts import share
from ragassay.base.errors import InputError, called, warn_user
from ragassay.formats.format_words import wrong
from ragassay.formats.sources.opening import opened
from ragassay.formats.trec.json_and_parquet import read_other
from ragassay.formats.trec.trec_tables import NUMBER, Layout, fields_of, read_table, second_line

if TYPE_CHECKING:
    import polars as pl


class TrecRun(NamedTuple):
    """A run file: its tag (of the last line) and a frame of ``query``, ``document``, ``score``."""

    tag: str
    frame: pl.DataFrame


_RUN = Layout(
    "run", ("query", "_Q0", "document", "_rank", "score", "tag"), "score", False, aside="_rank"
)
_QRELS = Layout("qrels file", ("query", "_iteration", "document", "grade"), "grade", True)
_BEIR_NAMES = {"query-id": "query", "corpus-id": "document", "score": "grade"}


def read_run(path: Path) -> TrecRun:
    """A TREC run in the order of its lines. Repeated documents are not checked for. Where the rank
    column contradicts the scores, a `RagassayWarning` says so."""
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
    if len(fields) >= len(_RUN.columns) and fields[1] == b"Q0" and NUMBER.fullmatch(fields[4]):
        raise wrong("run_for_qrels", path=path)
    return read_table(path, layout).select("query", "document", "grade")


def read_qrels_by_query(path: Path) -> Mapping[str, Mapping[str, int]]:
    """The grade of each document, by query, in the order of the file. A document that is judged
    twice for one query is an error."""
    by_query: dict[str, dict[str, int]] = {}
    frame = read_qrels(path)
    for query, document, grade in frame.iter_rows():
        grades = by_query.setdefault(query, {})
        if document in grades:
            raise repeated(path, query, document, run=False)
        grades[document] = grade
    return by_query


def repeated(path: Path, query: str, document: str, *, run: bool) -> InputError:
    """The error for a document that occurs twice for one query in a run or else in qrels, with the
    line of the second occurrence."""
    if not run and path.is_dir():
        path = _beir_file(path)
    layout = _RUN if run else _beir_layout(path) or _QRELS
    key = {"query": query, "document": document}
    return wrong("document_twice", path=path, line=second_line(path, layout, key), **key)


def no_overlap(in_run: str, in_qrels: str, path: object | None = None) -> InputError:
    """The error for a run none of whose queries is judged, with the id of a query of each."""
    return wrong("none_judged", path=path, in_run=in_run, in_qrels=in_qrels)


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
