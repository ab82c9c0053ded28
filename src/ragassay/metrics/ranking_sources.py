"""Rankings from what holds qrels and runs: frames, arrays, mappings, files, samples.

One tie rule for all of them (trec_eval's): score descending, then document id descending by code
points. Only the ranks of judged documents are needed, so nothing is sorted but scores, and document
ids are compared only where scores tie.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError
from ragassay.formats import trec
from ragassay.metrics.rankings import Floats, Ints, Rankings

if TYPE_CHECKING:
    import polars as pl

_ODD = np.uint64(0x9E3779B97F4A7C15)


class RepeatedDocumentError(InputError):
    """A document occurs twice for one query."""

    def __init__(self, query: str, document: str, where: str) -> None:
        self.query, self.document, self.where = query, document, where
        super().__init__(
            f"document {document!r} occurs twice for query {query!r}",
            path=f"the {where}",
            hint="Give each document of a query once.",
        )


def from_files(qrels: Path, run: Path) -> tuple[Rankings, str]:
    """The rankings of a TREC run by qrels files, and the run's tag.

    Raises:
        InputError: see `ragassay.formats.trec`; also a document that occurs twice for one query
            (with its line), or a run none of whose queries is judged.
    """
    found = trec.read_run(run)
    try:
        return from_frames(trec.read_qrels(qrels), found.frame), found.tag
    except RepeatedDocumentError as error:
        in_run = error.where == "run"
        path = run if in_run else qrels
        raise trec.repeated(path, error.query, error.document, run=in_run) from None
    except InputError as error:
        raise error.at(path=run) from None


def from_arrays(
    qrels: tuple[Sequence[Any], Sequence[Any], Sequence[int]],
    run: tuple[Sequence[Any], Sequence[Any], Sequence[float]],
) -> Rankings:
    """Rankings from columns: ``(query, document, grade)`` and ``(query, document, score)``.

    Raises:
        InputError: see `from_frames`; also columns of different lengths.
    """
    return from_frames(_frame(qrels, "qrels", "grade"), _frame(run, "run", "score"))


def from_frames(qrels: pl.DataFrame, run: pl.DataFrame) -> Rankings:
    """Rankings from polars frames, rows in any order.

    Args:
        qrels: columns ``query``, ``document`` (texts or whole numbers) and ``grade``.
        run: columns ``query``, ``document`` and ``score``.

    Raises:
        InputError: a column is missing, holds nulls or the wrong kind of values, a score is not
            finite, a document occurs twice for one query, or no query of the run is judged.
    """
    import polars as pl

    qrels, run = _checked(qrels, "qrels", "grade"), _checked(run, "run", "score")
    queries = qrels["query"].rle().struct["value"].unique().sort()
    if not queries.len():
        raise InputError("the qrels are empty")
    codes = pl.DataFrame({"query": queries, "code": np.arange(queries.len())})
    gold_code = np.repeat(*_blocks(qrels["query"], codes))
    code, lengths = _blocks(run["query"], codes)
    judged, n_unjudged = code >= 0, 0
    if not judged.all():
        if not judged.any():
            raise trec.no_overlap(str(run["query"][0]), str(queries[0]))
        judged_rows = np.repeat(judged, lengths)
        n_unjudged = run["query"].filter(~judged_rows).n_unique()
        run, code, lengths = run.filter(judged_rows), code[judged], lengths[judged]
    row_code = np.repeat(code, lengths)
    gold, row = _matches(qrels, gold_code, run, row_code)
    scores = run["score"].to_numpy()
    segments = _segments(scores, row_code, lengths, queries.len())

    def tied(hits: Ints) -> Ints:
        return _higher_among_tied(run, row_code, row[hits])

    grade = qrels["grade"].to_numpy()
    place = row if segments.scores is scores else None
    return Rankings(
        queries.to_list(),
        segments.counts,
        gold_code[gold],
        _ranks(segments, row_code[row], scores[row], tied, place),
        grade[gold],
        gold_code,
        grade,
        n_unjudged,
    )


def from_mappings(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> Rankings:
    """Rankings from dicts of dicts, as pytrec_eval takes them.

    Raises:
        InputError: no query of the run is judged, or a score or grade is not a finite number.
    """
    if not qrels:
        raise InputError("the qrels are empty")
    if run and not any(query in qrels for query in run):
        raise trec.no_overlap(str(next(iter(run))), str(next(iter(qrels))))
    queries = sorted(qrels)
    found = from_lists(queries, [qrels[q] for q in queries], [run.get(q) or {} for q in queries])
    found.n_unjudged_queries = len(run.keys() - qrels.keys())
    return found


def from_lists(
    queries: Sequence[str],
    gold: Sequence[Mapping[str, int]],
    retrieved: Sequence[Mapping[str, float]],
) -> Rankings:
    """Rankings from one mapping of grades and one of scores a query, in the order of ``queries``.

    Raises:
        InputError: a score or grade is not a finite number.
    """
    counts = np.fromiter(map(len, retrieved), np.int64, len(queries))
    scores = _numbers(chain.from_iterable(r.values() for r in retrieved), int(counts.sum()))
    gold_counts = np.fromiter(map(len, gold), np.int64, len(queries))
    grades = _numbers(chain.from_iterable(g.values() for g in gold), int(gold_counts.sum()))
    if (grades != np.trunc(grades)).any():
        raise InputError("a grade is not a whole number", field="grade")
    gold_query = np.repeat(np.arange(len(queries)), gold_counts)
    # What each judged document scores in its run; NaN stands for "not retrieved" here only.
    found = chain.from_iterable(
        map(scores_of.get, grades_of, repeat(np.nan))
        for grades_of, scores_of in zip(gold, retrieved, strict=True)
    )
    at_gold = np.fromiter(found, np.float64, len(gold_query))
    hits = np.flatnonzero(~np.isnan(at_gold))
    starts = np.cumsum(counts) - counts
    segments = _Segments(_descending(scores, starts, counts), starts, counts)

    def tied(chosen: Ints) -> Ints:
        groups: dict[tuple[int, float], list[str]] = {}
        documents = list(chain.from_iterable(gold))
        higher = []
        for at in hits[chosen].tolist():
            code, score = int(gold_query[at]), float(at_gold[at])
            group = groups.get((code, score))
            if group is None:
                group = sorted(d for d, s in retrieved[code].items() if s == score)
                groups[code, score] = group
            higher.append(len(group) - bisect_right(group, documents[at]))
        return np.array(higher, np.int64)

    return Rankings(
        queries,
        counts,
        gold_query[hits],
        _ranks(segments, gold_query[hits], at_gold[hits], tied),
        grades[hits].astype(np.int64),
        gold_query,
        grades.astype(np.int64),
    )


class _Segments(NamedTuple):
    """Scores, descending within each query: those of query i are ``[start, start + count)``."""

    scores: Floats
    starts: Ints
    counts: Ints


def _segments(scores: Floats, code: Ints, lengths: Ints, n: int) -> _Segments:
    """Brings each query's scores together and in order; rows come in blocks of one query each."""
    counts = np.bincount(code, minlength=n)
    if len(lengths) > np.count_nonzero(counts):
        scores = scores[np.argsort(code, kind="stable")]
        starts = np.cumsum(counts) - counts
    else:
        first = np.cumsum(lengths) - lengths
        starts = np.zeros(n, np.int64)
        starts[code[first]] = first
    return _Segments(_descending(scores, starts, counts), starts, counts)


def _descending(scores: Floats, starts: Ints, counts: Ints) -> Floats:
    """Scores sorted within each query; a query that is in order already is left as it is."""
    if not np.isfinite(scores).all():
        raise InputError(
            f"the score {scores[~np.isfinite(scores)][0]} is not finite",
            field="score",
            hint="Scores must be finite numbers.",
        )
    rises = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    by_place = np.argsort(starts, kind="stable")
    by_place = by_place[counts[by_place] > 0]
    at = np.searchsorted(starts[by_place], rises, side="right") - 1
    within = rises > starts[by_place][at] if len(rises) else np.zeros(0, np.bool_)
    unsorted = np.unique(by_place[at[within]])
    if len(unsorted):
        scores = scores.copy()
        for start, count in zip(starts[unsorted], counts[unsorted], strict=True):
            segment = scores[start : start + count]
            segment.sort()
            segment[:] = segment[::-1].copy()
    return scores


def _ranks(
    segments: _Segments,
    query: Ints,
    score: Floats,
    tied: Callable[[Ints], Ints],
    place: Ints | None = None,
) -> Ints:
    """The rank, from 1, of documents with these scores.

    ``tied`` tells, for the documents (by index) that share their score with another one, how many
    of those have a greater id. ``place`` is the documents' index in the scores, where it is known.
    """
    scores = segments.scores
    low, high = segments.starts[query], segments.starts[query] + segments.counts[query]
    first = _bisect(scores, low, high, score) if place is None else place.copy()
    is_tied = (scores[np.maximum(first - 1, low)] == score) & (first > low)
    is_tied |= (scores[np.minimum(first + 1, high - 1)] == score) & (first < high - 1)
    together = np.flatnonzero(is_tied)
    if len(together):
        first[together] = _bisect(scores, low[together], high[together], score[together])
        first[together] += tied(together)
    return first - low + 1


def _bisect(scores: Floats, low: Ints, high: Ints, score: Floats) -> Ints:
    """For each score the first index in ``[low, high)`` that does not hold a higher one; all
    searches go forward together, by steps that halve."""
    at = low.copy()
    step = 1 << int((high - low).max(initial=0)).bit_length()
    while step := step >> 1:
        probe = at + step
        inside = probe <= high
        at += step * (inside & (scores[np.where(inside, probe, low + 1) - 1] > score))
    return at


def _higher_among_tied(run: pl.DataFrame, code: Ints, rows: Ints) -> Ints:
    """How many documents with the score (and query) of each row have a greater id."""
    import polars as pl

    everything = run.select("document", score=pl.col("score") + 0.0, code=pl.Series(code))
    asked = everything[rows]
    groups = asked.select("code", "score").unique()
    members = (
        everything.filter(pl.col("code").is_in(groups["code"].unique().to_list()))
        .join(groups, on=["code", "score"], how="semi")
        .sort("code", "score", "document", descending=[False, False, True])
        .with_columns(higher=pl.int_range(pl.len()).over("code", "score"))
    )
    found = asked.join(members, on=["code", "score", "document"], how="left", maintain_order="left")
    return found["higher"].to_numpy().astype(np.int64)


def _blocks(column: pl.Series, codes: pl.DataFrame) -> tuple[Ints, Ints]:
    """The column as blocks of equal queries: each block's code (-1: not judged) and length."""
    import polars as pl

    blocks = column.rle().struct.unnest()
    found = blocks.select(pl.col("value").alias("query")).join(
        codes, on="query", how="left", maintain_order="left"
    )
    return found["code"].fill_null(-1).to_numpy(), blocks["len"].to_numpy().astype(np.int64)


def _matches(
    qrels: pl.DataFrame, gold_code: Ints, run: pl.DataFrame, code: Ints
) -> tuple[Ints, Ints]:
    """Indices into the qrels and the run of the pairs that stand in both.

    Pairs are matched by a 64-bit key, which is fast; the documents themselves are then compared, so
    that keys that are equal by chance do no harm.
    """
    import polars as pl

    gold, documents = qrels["document"], run["document"]
    gold_keys, keys = _keys(gold, gold_code), _keys(documents, code)
    _refuse_repeats(qrels, gold_keys, "qrels")
    _refuse_repeats(run, keys, "run")
    pairs = (
        pl.DataFrame({"key": keys})
        .with_row_index("row")
        .join(pl.DataFrame({"key": gold_keys}).with_row_index("gold"), on="key")
    )
    row, at = pairs["row"].to_numpy(), pairs["gold"].to_numpy()
    same = (documents[row] == gold[at]).to_numpy() & (code[row] == gold_code[at])
    return at[same].astype(np.int64), row[same].astype(np.int64)


def _keys(documents: pl.Series, code: Ints) -> NDArray[np.uint64]:
    keys: NDArray[np.uint64] = documents.hash(seed=17).to_numpy() ^ (code.astype(np.uint64) * _ODD)
    return keys


def _refuse_repeats(frame: pl.DataFrame, keys: NDArray[np.uint64], where: str) -> None:
    in_order = np.sort(keys)
    equal = in_order[1:] == in_order[:-1]
    if equal.any():
        suspects = frame.filter(np.isin(keys, in_order[1:][equal])).select("query", "document")
        found = suspects.filter(suspects.is_duplicated())
        if found.height:
            query, document = found.row(0)
            raise RepeatedDocumentError(query, document, where)


def _checked(frame: pl.DataFrame, what: str, number: str) -> pl.DataFrame:
    """The three columns with ids as texts and numbers as numbers."""
    import polars as pl

    wanted = ["query", "document", number]
    if missing := [name for name in wanted if name not in frame.columns]:
        raise InputError(
            f"the {what} have no column {missing[0]!r}"
            if what == "qrels"
            else f"the {what} has no column {missing[0]!r}",
            hint=f"Name the columns {', '.join(wanted)}.",
        )
    number_type = pl.Int64 if number == "grade" else pl.Float64
    try:
        found = frame.select(
            pl.col("query", "document").cast(pl.String), pl.col(number).cast(number_type)
        )
    except pl.exceptions.PolarsError:
        raise InputError(f"the {what}: a {number} is not a number", field=number) from None
    for name, nulls in zip(wanted, found.null_count().row(0), strict=True):
        if nulls:
            raise InputError(f"the {what}: {nulls} rows have no {name}", field=name)
    return found


def _frame(columns: tuple[Sequence[Any], ...], what: str, number: str) -> pl.DataFrame:
    import polars as pl

    names = ("query", "document", number)
    quick = [_quick(column) for column in columns]
    try:
        return pl.DataFrame(dict(zip(names, quick, strict=True)), strict=False)
    except (pl.exceptions.PolarsError, ValueError, TypeError) as error:
        raise InputError(f"the {what}: {error}", hint=f"Give {', '.join(names)}.") from None


def _quick(column: Any) -> Any:
    """polars takes a list of texts several times faster than a numpy array of fixed-width ones."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "U":
        return column.tolist()
    return column


def _numbers(values: Iterable[Any], count: int) -> Floats:
    try:
        return np.fromiter(values, np.float64, count)
    except (TypeError, ValueError) as error:
        raise InputError(f"a score or grade is not a number ({error})") from None
