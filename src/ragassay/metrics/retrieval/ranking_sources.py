"""Rankings from qrels and runs given as frames, arrays, mappings or samples.

All use trec_eval's rule for ties: score descending, then document id descending by code points.
Only the ranks of judged documents are needed, so only scores are sorted, and document ids are
compared only where scores tie.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.base.errors import InputError
from ragassay.formats.trec import trec_files
from ragassay.metrics.retrieval.rankings import Floats, Ints, Rankings

if TYPE_CHECKING:
    import polars as pl

_ODD = np.uint64(0x9E3779B97F4A7C15)
_AT_ONCE = 1 << 20


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
    queries = qrels["query"].rle().struct["value"].unique()
    queries = queries[queries.cast(pl.String).arg_sort()]
    codes = pl.DataFrame({"query": queries, "code": np.arange(queries.len())})
    gold_code = np.repeat(*_blocks(qrels["query"], codes))
    code, lengths = _blocks(run["query"], codes)
    judged, n_unjudged = code >= 0, 0
    if not judged.all():
        if not judged.any():
            raise trec_files.no_overlap(str(run["query"][0]), str(queries[0]))
        judged_rows = np.repeat(judged, lengths)
        n_unjudged = run["query"].filter(~judged_rows).n_unique()
        run, code, lengths = run.filter(judged_rows), code[judged], lengths[judged]
    row_code = np.repeat(code, lengths)
    gold, row = _matches(qrels, gold_code, run, row_code)
    scores = run["score"].to_numpy()
    segments = _segments_of(scores, row_code, lengths, queries.len())

    def tied(hits: Ints) -> Ints:
        return _higher_among_tied(run, row_code, row[hits])

    grade = qrels["grade"].to_numpy()
    place = row if segments.scores is scores else None
    return Rankings(
        tuple(queries.cast(pl.String).to_list()),
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
    """Rankings from dicts of dicts, as pytrec_eval takes them."""
    if not qrels or not run:
        raise InputError(f"the {'run' if qrels else 'qrels'}: there are no queries")
    if not any(query in qrels for query in run):
        raise trec_files.no_overlap(str(next(iter(run))), str(next(iter(qrels))))
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
    counts = np.fromiter(map(len, retrieved), np.int64, len(queries))
    scores = _numbers(chain.from_iterable(r.values() for r in retrieved), int(counts.sum()))
    gold_counts = np.fromiter(map(len, gold), np.int64, len(queries))
    grades = _numbers(chain.from_iterable(g.values() for g in gold), int(gold_counts.sum()))
    if not (np.isfinite(grades) & (grades == np.trunc(grades))).all():
        raise InputError("a grade is not a whole number", field="grade")
    gold_query = np.repeat(np.arange(len(queries)), gold_counts)
    # What each judged document scores in its run; NaN stands for "not retrieved" here only.
    gold_scores = chain.from_iterable(
        map(scores_of.get, grades_of, repeat(np.nan))
        for grades_of, scores_of in zip(gold, retrieved, strict=True)
    )
    at_gold = np.fromiter(gold_scores, np.float64, len(gold_query))
    hits = np.flatnonzero(~np.isnan(at_gold))
    starts = np.cumsum(counts) - counts
    segments = _Segments(_descending(scores, starts, counts), starts, counts)

    def tied(chosen: Ints) -> Ints:
        at = hits[chosen]
        documents = list(chain.from_iterable(gold))
        return _higher_among_tied_lists(
            retrieved,
            gold_query[at].tolist(),
            at_gold[at].tolist(),
            [documents[i] for i in at.tolist()],
        )

    return Rankings(
        tuple(queries),
        counts,
        gold_query[hits],
        _ranks(segments, gold_query[hits], at_gold[hits], tied),
        grades[hits].astype(np.int64),
        gold_query,
        grades.astype(np.int64),
    )


def _higher_among_tied_lists(
    retrieved: Sequence[Mapping[str, float]],
    query: Sequence[int],
    score: Sequence[float],
    document: Sequence[str],
) -> Ints:
    """How many documents with the score (and query) of each of these have a greater id."""
    groups: dict[int, dict[float, list[str]]] = {}
    for at, value in zip(query, score, strict=True):
        groups.setdefault(at, {})[value] = []
    for at, wanted in groups.items():
        for name, value in retrieved[at].items():
            if value in wanted:
                wanted[value].append(name)
        for names in wanted.values():
            names.sort()
    higher = [
        len(names) - bisect_right(names, name)
        for at, value, name in zip(query, score, document, strict=True)
        for names in [groups[at][value]]
    ]
    return np.array(higher, np.int64)


def _higher_among_tied(run: pl.DataFrame, code: Ints, rows: Ints) -> Ints:
    """How many documents with the score (and query) of each row have a greater id."""
    import polars as pl

    # Most rows share their score with none of these: a coarse hash leaves them out at once.
    scores = run["score"].to_numpy() + 0.0
    slots = ((scores.view(np.uint64) ^ code.astype(np.uint64) * _ODD) * _ODD) >> np.uint64(42)
    concerned = np.zeros(1 << 22, np.bool_)
    concerned[slots[rows]] = True
    near = np.flatnonzero(concerned[slots])
    ids = pl.col("document").cast(pl.String)
    asked, members = (
        run[chosen].select(ids, score=pl.Series(scores[chosen]), code=pl.Series(code[chosen]))
        for chosen in (rows, near)
    )
    members = (
        members.join(asked.select("code", "score").unique(), on=["code", "score"], how="semi")
        .sort("code", "score", "document", descending=[False, False, True])
        .with_columns(higher=pl.int_range(pl.len()).over("code", "score"))
    )
    higher = asked.join(
        members, on=["code", "score", "document"], how="left", maintain_order="left"
    )
    return higher["higher"].to_numpy().astype(np.int64)


def _blocks(column: pl.Series, codes: pl.DataFrame) -> tuple[Ints, Ints]:
    """The column as blocks of equal queries: each block's code (-1: not judged) and length."""
    import polars as pl

    blocks = column.rle().struct.unnest()
    coded = blocks.select(pl.col("value").alias("query")).join(
        codes, on="query", how="left", maintain_order="left"
    )
    return coded["code"].fill_null(-1).to_numpy(), blocks["len"].to_numpy().astype(np.int64)


def _matches(
    qrels: pl.DataFrame, gold_code: Ints, run: pl.DataFrame, code: Ints
) -> tuple[Ints, Ints]:
    """Indices into the qrels and the run of the pairs that are in both.

    Each row becomes one number: a hash of its pair, whether it is a judgement, and its index.
    Sorting the numbers of both sides together, which is fast, puts equal pairs side by side. The
    documents themselves are then compared, so that equal hashes of different pairs do no harm.
    """
    bits = max(len(code), len(gold_code)).bit_length()
    shift = np.uint64(bits + 1)
    both = np.concatenate(
        [
            (_keys(frame["document"], codes) >> shift << shift)
            | np.arange(side << bits, (side << bits) + len(codes), dtype=np.uint64)
            for side, (frame, codes) in enumerate([(run, code), (qrels, gold_code)])
        ]
    )
    both.sort()
    near = np.flatnonzero((both[1:] ^ both[:-1]) >> shift == 0)
    first, second = both[near], both[near + 1]
    # Two rows of one side with one hash: a repeated document, or chance.
    crowd = first >> shift
    crowded = np.isin(crowd, crowd[(first ^ second) >> np.uint64(bits) == 0])
    index = np.uint64((1 << bits) - 1)
    # In the order of the run, which is that of the result in most files.
    pairs = np.sort((first[~crowded] & index) << np.uint64(bits) | second[~crowded] & index)
    row, gold = (pairs >> np.uint64(bits)).astype(np.int64), (pairs & index).astype(np.int64)
    same = (run["document"][row] == qrels["document"][gold]).to_numpy()
    same &= code[row] == gold_code[gold]
    row, gold = row[same], gold[same]
    if crowded.any():
        odd = np.union1d(first[crowded], second[crowded])
        judged = odd >> np.uint64(bits) & np.uint64(1) == 1
        odd_index = (odd & index).astype(np.int64)
        more_gold, more_row = _exact_matches(qrels, odd_index[judged], run, odd_index[~judged])
        return np.append(gold, more_gold), np.append(row, more_row)
    return gold, row


def _exact_matches(
    qrels: pl.DataFrame, gold: Ints, run: pl.DataFrame, row: Ints
) -> tuple[Ints, Ints]:
    """The pairs that are in both among some rows of each, found by comparing the ids."""
    import polars as pl

    ids = ["query", "document"]
    judged = qrels[gold].select(*ids, gold=pl.Series(gold))
    retrieved = run[row].select(*ids, row=pl.Series(row))
    for where, frame in (("qrels", judged), ("run", retrieved)):
        repeated = frame.filter(frame.select(ids).is_duplicated())
        if repeated.height:
            query, document, _ = repeated.row(0)
            raise RepeatedDocumentError(str(query), str(document), where)
    pairs = judged.join(retrieved, on=ids)
    return pairs["gold"].to_numpy(), pairs["row"].to_numpy()


def _keys(documents: pl.Series, code: Ints) -> NDArray[np.uint64]:
    keys: NDArray[np.uint64] = documents.hash(seed=17).to_numpy() ^ (code.astype(np.uint64) * _ODD)
    return keys


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


def _numbers(values: Iterable[Any], count: int) -> Floats:
    try:
        return np.fromiter(values, np.float64, count)
    except (TypeError, ValueError) as error:
        raise InputError(f"a score or grade is not a number ({error})") from None


class _Segments(NamedTuple):
    """Scores, descending within each query; those of query i are at ``[start, start + count)``."""

    scores: Floats
    starts: Ints
    counts: Ints


def _segments_of(scores: Floats, code: Ints, lengths: Ints, n: int) -> _Segments:
    """Brings the scores of each query together, in descending order."""
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
    """Scores sorted within each query; a query that is in order already is left unchanged."""
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
    for count in np.unique(counts[unsorted]).tolist():
        equally_long = unsorted[counts[unsorted] == count]
        step = 1 + _AT_ONCE // count
        for begin in range(0, len(equally_long), step):
            places = starts[equally_long[begin : begin + step], None] + np.arange(count)
            scores[places] = -np.sort(-scores[places], axis=1)
    return scores


def _ranks(
    segments: _Segments,
    query: Ints,
    score: Floats,
    tied: Callable[[Ints], Ints],
    place: Ints | None = None,
) -> Ints:
    """The rank, from 1, of some documents."""
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
    """For each score the first index in ``[low, high)`` that does not hold a higher one.

    All searches run together, in steps that halve.
    """
    at = low.copy()
    step = 1 << int((high - low).max(initial=0)).bit_length()
    while step := step >> 1:
        probe = at + step
        inside = probe <= high
        at += step * (inside & (scores[np.where(inside, probe, low + 1) - 1] > score))
    return at
