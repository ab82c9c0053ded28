"""From scores to ranks, for chosen documents, without sorting the ids of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ragassay.base.errors import InputError
from ragassay.metrics.retrieval.rankings import Floats, Ints

_AT_ONCE = 1 << 20


class Segments(NamedTuple):
    """Scores, descending within each query; those of query i are at ``[start, start + count)``."""

    scores: Floats
    starts: Ints
    counts: Ints


def segments_of(scores: Floats, code: Ints, lengths: Ints, n: int) -> Segments:
    """Brings the scores of each query together, in descending order.

    Args:
        scores: scores, shape ``(n_rows,)``, in blocks of one query each.
        code: index of the query of each row, shape ``(n_rows,)``.
        lengths: length of each block.
        n: number of queries.

    Raises:
        InputError: a score is not finite.
    """
    counts = np.bincount(code, minlength=n)
    if len(lengths) > np.count_nonzero(counts):
        scores = scores[np.argsort(code, kind="stable")]
        starts = np.cumsum(counts) - counts
    else:
        first = np.cumsum(lengths) - lengths
        starts = np.zeros(n, np.int64)
        starts[code[first]] = first
    return Segments(descending(scores, starts, counts), starts, counts)


def descending(scores: Floats, starts: Ints, counts: Ints) -> Floats:
    """Scores sorted within each query; a query that is in order already is left unchanged.

    Args:
        scores: scores, shape ``(n_rows,)``, each query's together.
        starts: index of the first score of each query.
        counts: number of scores of each query.

    Raises:
        InputError: a score is not finite.
    """
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


def ranks(
    segments: Segments,
    query: Ints,
    score: Floats,
    tied: Callable[[Ints], Ints],
    place: Ints | None = None,
) -> Ints:
    """The rank, from 1, of some documents.

    Args:
        segments: the scores of all documents.
        query: index of the query of each of the documents, shape ``(n,)``.
        score: their scores, shape ``(n,)``.
        tied: gives for documents that share their score with another one (by index into ``query``)
            how many of those have a greater id.
        place: index of each document in ``segments.scores``, where it is known.
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
