"""Rankings from qrels and runs given as frames, arrays, mappings or samples, by trec_eval's rule
for ties: score descending, then document id descending by code points."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragassay.base.errors import InputError
from ragassay.formats.format_words import wrong
from ragassay.metrics.retrieval.rankings import Rankings, nth_of_query

if TYPE_CHECKING:
    import polars as pl


class RepeatedDocumentError(InputError):
    """A document occurs twice for one query."""

    def __init__(self, query: str, document: str, where: str) -> None:
        self.query, self.document, self.where = query, document, where
        super().__init__(
            f"document {document!r} occurs twice for query {query!r}",
            path=f"the {where}",
            hint="Give each document of a query once.",
        )


def from_arrays(
    qrels: tuple[Sequence[Any], Sequence[Any], Sequence[int]],
    run: tuple[Sequence[Any], Sequence[Any], Sequence[float]],
) -> Rankings:
    """Rankings from columns of query ids, document ids, and grades or scores."""
    return from_frames(_frame(qrels, "qrels", "grade"), _frame(run, "run", "score"))


def from_frames(qrels: pl.DataFrame, run: pl.DataFrame) -> Rankings:
    """Rankings from polars frames with the columns ``query``, ``document`` (texts or whole numbers)
    and ``grade`` or ``score``, rows in any order.

    Raises:
        InputError: a column is missing, holds nulls or the wrong kind of values, a score is not
            finite, a document occurs twice for one query, or no query of the run is judged.
    """
    import polars as pl

    qrels, run = _alike(_checked(qrels, "qrels", "grade"), _checked(run, "run", "score"))
    codes = qrels.select(pl.col("query").unique())
    codes = codes.sort(pl.col("query").cast(pl.String)).with_row_index("code")
    gold = qrels.join(codes, on="query").select("code", "document", "grade")
    judged = run.join(codes, on="query").select("code", "document", "score")
    if not judged.height:
        raise wrong("none_judged", in_run=run["query"][0], in_qrels=codes["query"][0])
    for where, frame in (("qrels", gold), ("run", judged)):
        _refuse_repeats(frame, codes, where)
    judged = _ranked(judged)
    hits = judged.join(gold, on=["code", "document"])
    counts = np.bincount(judged["code"].to_numpy(), minlength=codes.height)
    hit_query, hit_rank, gold_query = (
        column.to_numpy().astype(np.int64) for column in (hits["code"], hits["rank"], gold["code"])
    )
    return Rankings(
        tuple(codes["query"].cast(pl.String).to_list()),
        counts,
        hit_query,
        hit_rank,
        hits["grade"].to_numpy(),
        gold_query,
        gold["grade"].to_numpy(),
        run.join(codes, on="query", how="anti")["query"].n_unique(),
    )


def _ranked(run: pl.DataFrame) -> pl.DataFrame:
    """Code, document and rank (from 1) of each row."""
    import polars as pl

    by_score = pl.arg_sort_by("code", "score", descending=[False, True])
    run = run[run.select(by_score).to_series()]
    code, score = run["code"].to_numpy().astype(np.int64), run["score"].to_numpy()
    same = (code[1:] == code[:-1]) & (score[1:] == score[:-1])
    tied = np.append(same, False) | np.append(False, same)
    documents = run["document"]
    if tied.any():  # only these are compared by their ids, which is slow
        ids = pl.col("document").cast(pl.String)
        rows = run.filter(tied).sort("code", "score", ids, descending=[False, True, True])
        documents = documents.scatter(np.flatnonzero(tied), rows["document"])
    return pl.DataFrame({"code": run["code"], "document": documents, "rank": nth_of_query(code)})


def _refuse_repeats(frame: pl.DataFrame, codes: pl.DataFrame, where: str) -> None:
    """Raises an error where a document occurs twice for one query."""
    import polars as pl

    hashes = frame.select(pl.struct("code", "document").hash()).to_series()
    if hashes.n_unique() < len(hashes):
        repeated = frame.filter(frame.select("code", "document").is_duplicated())
        for code, document, _ in repeated.head(1).iter_rows():
            raise RepeatedDocumentError(str(codes["query"][code]), str(document), where)


def from_mappings(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> Rankings:
    """Rankings from dicts of dicts, as pytrec_eval takes them."""
    if not qrels or not run:
        raise InputError(f"the {'run' if qrels else 'qrels'}: there are no queries")
    if not any(query in qrels for query in run):
        raise wrong("none_judged", in_run=next(iter(run)), in_qrels=next(iter(qrels)))
    queries = sorted(qrels)
    rankings = from_lists(queries, [qrels[q] for q in queries], [run.get(q) or {} for q in queries])
    rankings.n_unjudged_queries = len(run.keys() - qrels.keys())
    return rankings


def from_lists(
    queries: Sequence[str],
    gold: Sequence[Mapping[str, int]],
    retrieved: Sequence[Mapping[str, float]],
) -> Rankings:
    """Rankings from one mapping of grades and one of scores a query."""
    hits: list[tuple[int, int, int]] = []
    for at, (grades, scores) in enumerate(zip(gold, retrieved, strict=True)):
        ordered = sorted(_numbers(scores.values()))
        if not all(map(math.isfinite, ordered)):
            raise _not_finite(ordered)
        for document in grades.keys() & scores.keys():
            score = scores[document]
            higher = len(ordered) - bisect_right(ordered, score)
            if len(ordered) - higher - bisect_left(ordered, score) > 1:
                higher += sum(s == score and name > document for name, s in scores.items())
            hits.append((at, 1 + higher, grades[document]))
    judged = [grade for grades in gold for grade in _numbers(grades.values())]
    if not all(grade.is_integer() for grade in judged):
        raise InputError("a grade is not a whole number", field="grade")
    query, rank, grade = np.array(hits, np.int64).reshape(-1, 3).T
    return Rankings(
        tuple(queries),
        np.array([len(scores) for scores in retrieved], np.int64),
        query,
        rank,
        grade,
        np.repeat(np.arange(len(queries)), [len(grades) for grades in gold]),
        np.array(judged, np.int64),
    )


def _numbers(values: Iterable[Any]) -> list[float]:
    try:
        return list(map(float, values))
    except (TypeError, ValueError) as error:
        raise InputError(f"a score or grade is not a number ({error})") from None


def _not_finite(scores: Iterable[float]) -> InputError:
    odd = next(score for score in scores if not math.isfinite(score))
    return InputError(
        f"the score {odd} is not finite", field="score", hint="Scores must be finite numbers."
    )


def _checked(frame: pl.DataFrame, what: str, number: str) -> pl.DataFrame:
    """The three columns, without gaps and with numbers as numbers."""
    import polars as pl

    wanted = ["query", "document", number]
    if missing := [name for name in wanted if name not in frame.columns]:
        raise InputError(
            f"the {what}: there is no column {missing[0]!r}",
            hint=f"Name the columns {', '.join(wanted)}.",
        )
    if not frame.height:
        raise InputError(f"the {what}: there are no rows")
    for name in wanted:
        if frame[name].has_nulls():
            raise InputError(f"the {what}: some rows have no {name}", field=name)
    integral = number == "grade"
    try:
        values = frame[number].cast(pl.Float64)
    except pl.exceptions.PolarsError:
        raise InputError(f"the {what}: a {number} is not a number", field=number) from None
    if integral and not (values.is_finite() & (values == values.floor())).all():
        raise InputError(f"the {what}: a {number} is not a whole number", field=number)
    if not integral and not values.is_finite().all():
        raise _not_finite(values)
    return frame.select("query", "document", values.cast(pl.Int64) if integral else values)


def _alike(qrels: pl.DataFrame, run: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both frames with ids of one type: whole numbers where both have them, else texts."""
    import polars as pl

    for name in ("query", "document"):
        numbers = qrels[name].dtype.is_integer() and run[name].dtype.is_integer()
        kind = pl.Int64 if numbers else pl.String
        qrels, run = (frame.with_columns(pl.col(name).cast(kind)) for frame in (qrels, run))
    return qrels, run


def _frame(columns: tuple[Any, ...], what: str, number: str) -> pl.DataFrame:
    import polars as pl

    names = ("query", "document", number)
    # polars reads a list several times faster than a numpy array of fixed-width texts.
    fast = [
        column.tolist() if isinstance(column, np.ndarray) and column.dtype.kind == "U" else column
        for column in columns
    ]
    try:
        return pl.DataFrame(dict(zip(names, fast, strict=True)), strict=False)
    except (pl.exceptions.PolarsError, ValueError, TypeError) as error:
        raise InputError(f"the {what}: {error}", hint=f"Give {', '.join(names)}.") from None
