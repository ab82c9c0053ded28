"""Measures of retrieval where a document is relevant or not, as in trec_eval 10: a query without
relevant documents counts 0."""

from __future__ import annotations

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.metrics.core.metric import cutoff, param
from ragassay.metrics.retrieval.ranking_metric import AT_K, REL, WITHIN_K, RankingMetric, measure
from ragassay.metrics.retrieval.rankings import JUDGED, Floats, Ints, Rankings, nth_of_query, share

_ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_SMOOTHING = 1e-5
"""trec_eval's, of the share of relevant documents that infAP infers."""


@measure("P", "Precision")
def precision(rankings: Rankings, k: int = AT_K, rel: int = REL) -> Floats:
    """Precision at k.

    Formula: relevant among the first k / k
    Misleads where: with R below k it cannot reach 1
    Source: trec_eval P
    """
    return rankings.hits(rel, k) / k


@measure("Recall", "R")
def recall(rankings: Rankings, k: int = AT_K, rel: int = REL) -> Floats:
    """Recall at k.

    Formula: relevant among the first k / R
    Misleads where: says nothing about order; R counts known documents, not all
    Source: trec_eval recall
    """
    return share(rankings.hits(rel, k), rankings.relevant(rel).n_known)


@measure("F1", "F1-score")
def f1(rankings: Rankings, k: int = AT_K, rel: int = REL) -> Floats:
    """F1 at k.

    Formula: 2PR / (P + R) of P@k and Recall@k
    Misleads where: with R far from k it cannot reach 1
    Source: van Rijsbergen, Information Retrieval (1979)
    """
    known = rankings.relevant(rel).n_known
    return share(2 * rankings.hits(rel, k), k + known)


@measure("AP", "MAP")
def average_precision(rankings: Rankings, k: int | None = WITHIN_K, rel: int = REL) -> Floats:
    """Average precision: whether relevant passages come first.

    Formula: Σ over relevant ranks i ≤ k of P@i / R
    Misleads where: an unjudged passage counts as irrelevant
    Source: trec_eval map, map_cut
    """
    relevant = rankings.relevant(rel)
    inside = slice(None) if k is None else relevant.rank <= k
    precision = relevant.nth[inside] / relevant.rank[inside]
    return share(rankings.total(relevant.query[inside], precision), relevant.n_known)


@measure("GMAP", aggregate="geometric")
def geometric_average_precision(
    rankings: Rankings, k: int | None = WITHIN_K, rel: int = REL
) -> Floats:
    """Average precision, geometric mean.

    A single sample shows plain AP.

    Formula: geometric mean over queries, values below 0.00001 counting as that
    Misleads where: a few queries at zero decide it
    Source: trec_eval gm_map
    """
    return average_precision(rankings, k, rel)


@measure("YAAP", low=None, high=None)
def smoothed_average_precision(rankings: Rankings, rel: int = REL) -> Floats:
    """Yet another average precision.

    It orders the rankings of a query as AP does and varies less in the mean. It is below 0 where AP
    is below one half.

    Formula: log((1 + s) / (1 + R - s)), s = Σ precision at the relevant ranks
    Misleads where: has no upper bound; orders as AP does
    Source: Robertson, ECIR 2012; trec_eval yaap
    """
    relevant = rankings.relevant(rel)
    total = rankings.total(relevant.query, relevant.nth / relevant.rank)
    smoothed: Floats = np.log((1 + total) / (1 + relevant.n_known - total))
    return smoothed


@measure("RR", "MRR")
def reciprocal_rank(rankings: Rankings, k: int | None = WITHIN_K, rel: int = REL) -> Floats:
    """Reciprocal rank.

    Formula: 1 / rank of the first relevant, 0 without one
    Misleads where: sees the first hit only; rank 1 to 2 costs as much as 2 to no hit
    Source: trec_eval recip_rank
    """
    relevant = rankings.relevant(rel)
    first = relevant.nth == 1
    if k is not None:
        first &= relevant.rank <= k
    return rankings.total(relevant.query[first], 1 / relevant.rank[first])


@measure("Success", "HitRate", "hit_rate", "Hit")
def success(rankings: Rankings, k: int = AT_K, rel: int = REL) -> Floats:
    """Success (hit rate) at k.

    Formula: 1 if a relevant document is among the first k, else 0
    Misleads where: one of several needed documents is enough
    Source: trec_eval success
    """
    return np.minimum(rankings.hits(rel, k), 1.0)


@measure("Rprec")
def rprecision(
    rankings: Rankings,
    mult: float = param(1.0, "multiple of the number of relevant documents", minimum=0),
    rel: int = REL,
) -> Floats:
    """Precision at R relevant documents.

    The depth is a whole number, as in trec_eval: the whole part of ``mult * R + 0.9``.

    Formula: relevant among the first R / R
    Misleads where: with R = 1 it only looks at the first rank
    Source: trec_eval Rprec, Rprec_mult
    """
    relevant = rankings.relevant(rel)
    depth = np.trunc(mult * relevant.n_known + 0.9)
    inside = relevant.rank <= depth[relevant.query]
    return share(rankings.total(relevant.query[inside]), depth)


@measure("Bpref")
def binary_preference(rankings: Rankings, rel: int = REL) -> Floats:
    """Binary preference.

    Only the first R irrelevant documents count; R is the number of relevant ones.

    Formula: Σ over retrieved relevant of (1 - min(irrelevant judged above, R) / min(R, judged
        irrelevant)) / R
    Misleads where: with few judged irrelevant documents it is coarse
    Source: Buckley and Voorhees, SIGIR 2004; trec_eval bpref
    """
    relevant = rankings.relevant(rel)
    above = rankings.once(_judged_above, rel) - (relevant.nth - 1)
    known = relevant.n_known
    n_irrelevant = rankings.relevant(JUDGED).n_known - known
    most = np.minimum(known, n_irrelevant)[relevant.query]
    preferred = 1 - share(np.minimum(above, known[relevant.query]), most)
    return share(rankings.total(relevant.query, preferred), known)


@measure("GMBpref", aggregate="geometric")
def geometric_binary_preference(rankings: Rankings, rel: int = REL) -> Floats:
    """Binary preference, geometric mean.

    A single sample shows plain Bpref.

    Formula: geometric mean over queries, values below 0.00001 counting as that
    Misleads where: a few queries at zero decide it
    Source: trec_eval gm_bpref
    """
    return binary_preference(rankings, rel)


@measure("Judged")
def judged(rankings: Rankings, k: int = AT_K) -> Floats:
    """Judged documents at k.

    Formula: judged among the first k / k
    Misleads where: not quality; below about 0.9, other metrics of these judgements are doubtful
    Source: ir_measures Judged
    """
    return rankings.hits(JUDGED, k) / k


def _judged_above(rankings: Rankings, rel: int) -> Ints:
    """For each retrieved relevant document: the number of judged documents above it, relevant or
    not."""
    grades = rankings.hit_grade[rankings.hit_grade >= JUDGED]
    return rankings.relevant(JUDGED).nth[grades >= rel] - 1


@measure("IPrec")
def interpolated_precision(
    rankings: Rankings,
    recall: float = cutoff(..., "recall level, from 0 to 1", minimum=0, maximum=1),
    rel: int = REL,
) -> Floats:
    """Interpolated precision at a recall level.

    The level, times the number of relevant documents, is rounded to a whole number of documents
    (halves upwards), as in trec_eval 10; versions before 2023 cut it off and differ.

    Formula: highest precision at any rank where recall has reached the level
    Misleads where: precision at a depth that differs by query
    Source: trec_eval iprec_at_recall
    """
    relevant = rankings.relevant(rel)
    exact = recall * relevant.n_known
    wanted = np.trunc(exact) + (exact - np.trunc(exact) >= 0.5)
    reached = relevant.nth >= wanted[relevant.query]
    out = np.zeros(len(rankings))
    np.maximum.at(out, relevant.query[reached], relevant.nth[reached] / relevant.rank[reached])
    return out


class _AtLevels(RankingMetric):
    levels: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        _read_levels(self.levels)


@measure("AP11", base=_AtLevels)
def eleven_point_average(
    rankings: Rankings,
    levels: str | None = param(None, "other recall levels: 0.25;0.5;0.75"),
    rel: int = REL,
) -> Floats:
    """11-point average precision.

    Formula: mean of the interpolated precision at recall 0, 0.1, …, 1
    Misleads where: for short lists it is mostly interpolation
    Source: trec_eval 11pt_avg
    """
    chosen = _read_levels(levels)
    total: Floats = np.zeros(len(rankings))
    for recall in chosen:
        # One after the other: numpy's own sum rounds differently for one query and for many.
        total = total + interpolated_precision(rankings, recall, rel)
    return total / len(chosen)


def _read_levels(text: str | None) -> tuple[float, ...]:
    """The recall levels of a text such as ``0.25;0.5``; trec_eval's eleven for ``None``."""
    if text is None:
        return _ELEVEN
    try:
        levels = tuple(map(float, text.split(";")))
    except ValueError:
        raise UsageError(f"AP11(levels={text}): write numbers, as in 0.25;0.5;0.75.") from None
    if not all(0 <= recall <= 1 for recall in levels):
        raise UsageError(f"AP11(levels={text}): a recall level lies between 0 and 1.")
    return levels


@measure("infAP")
def inferred_average_precision(rankings: Rankings, rel: int = REL) -> Floats:
    """Inferred average precision.

    Documents that the qrels name with a grade below 0 were pooled but not judged; those that the
    qrels do not name were not pooled and count as irrelevant.

    Formula: expected average precision, unjudged pooled documents estimated from the judged ones
    Misleads where: needs qrels that name pooled documents without a judgement
    Source: Yilmaz and Aslam, CIKM 2006; trec_eval infAP
    """
    documents = rankings.relevant(rel)
    above = documents.rank - 1
    relevant = documents.nth - 1
    judged = rankings.once(_judged_above, rel)
    pooled = rankings.once(_pooled_above, rel)
    share_pooled = share(pooled, above)
    share_relevant = (relevant + _SMOOTHING) / (judged + 2 * _SMOOTHING)
    expected = (1 + above * share_pooled * share_relevant) / documents.rank
    return share(rankings.total(documents.query, expected), documents.n_known)


def _pooled_above(rankings: Rankings, rel: int) -> Floats:
    """For each retrieved relevant document: documents above it that the qrels name."""
    return (nth_of_query(rankings.hit_query)[rankings.hit_grade >= rel] - 1).astype(np.float64)
