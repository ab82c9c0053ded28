"""Measures that weigh grades. Gains are the grades (``gain=linear``), ``2 ** grade - 1``
(``gain=exp``), or chosen (``gains=1:3;2:9``); unjudged documents gain nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.metrics.core.metric import Window, param
from ragassay.metrics.retrieval.ranking_metric import REL, WITHIN_K, RankingMetric, measure
from ragassay.metrics.retrieval.rankings import (
    JUDGED,
    Floats,
    Ints,
    Rankings,
    by_query,
    nth_of_query,
    running,
    share,
)

Gains = Literal["linear", "exp"] | tuple[tuple[int, float], ...]


GAINS: Any = param(None, "gain of single grades: 1:3;2:9")


class _WithGains(RankingMetric):
    """A metric whose gains may be chosen."""

    gains: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gains is not None and getattr(self, "gain", "linear") == "exp":
            raise UsageError("nDCG takes gain=exp or gains=..., not both.")
        read_gains(self.gains)


@measure("nDCG", base=_WithGains)
def ndcg(
    rankings: Rankings,
    k: int | None = WITHIN_K,
    gain: Literal["linear", "exp"] = param("linear", "linear (the grade) or exp (2^grade - 1)"),
    gains: str | None = GAINS,
) -> Floats:
    """Normalised discounted cumulative gain: whether the best passages come first.

    Formula: Σ g(i) / log2(i + 1) within k, over that of the ideal ranking
    Misleads where: an unjudged passage counts as irrelevant; linear and exponential gains differ
    Source: Järvelin and Kekäläinen, ACM TOIS 2002; trec_eval ndcg, ndcg_cut
    """
    retrieved, ideal = _both(rankings, gains, gain)
    best = rankings.total(*_discounted(ideal, k))
    return share(rankings.total(*_discounted(retrieved, k)), best)


@measure("DCG", base=_WithGains, high=None)
def dcg(rankings: Rankings, gains: str | None = GAINS) -> Floats:
    """Discounted cumulative gain.

    Formula: Σ g(i) / log2(i + 1)
    Misleads where: queries with more relevant documents weigh more
    Source: Järvelin and Kekäläinen, ACM TOIS 2002; trec_eval dcg
    """
    return rankings.total(*_discounted(rankings.once(_retrieved, read_gains(gains) or "linear")))


@measure("idealDCG", base=_WithGains, high=None, higher_is_better=None)
def ideal_dcg(rankings: Rankings, gains: str | None = GAINS) -> Floats:
    """Discounted cumulative gain of the ideal ranking.

    Formula: DCG of the best possible order of all judged documents
    Misleads where: a property of the judgements, not of the system
    Source: Järvelin and Kekäläinen, ACM TOIS 2002; trec_eval ideal_dcg
    """
    return rankings.total(*_discounted(rankings.once(_ideal, read_gains(gains) or "linear")))


@measure("RnDCG", base=_WithGains, version=2)
def rndcg(rankings: Rankings, gains: str | None = GAINS, rel: int = REL) -> Floats:
    """nDCG at the R levels.

    The end of the ranking counts as a step, too. 0 for a query without a document of at least grade
    ``rel``.

    Formula: mean of nDCG at the ranks where the ideal ranking steps down
    Misleads where: hardly used elsewhere
    Source: trec_eval Rndcg
    """
    retrieved, ideal = _both(rankings, gains)
    best = running(*_discounted(ideal))
    last = np.append(np.diff(ideal.query) != 0, True)[: len(best)]
    step = last | np.append(np.diff(ideal.gain) != 0, True)[: len(best)]
    query, depth = ideal.query[step], ideal.rank[step]
    sums = rankings.total(query, share(_dcg_at(rankings, retrieved, query, depth), best[step]))
    steps = rankings.total(query)
    # Below the ideal ranking's end one more rank counts: the end of the actual ranking.
    longer = rankings.n_retrieved[ideal.query[last]] > ideal.rank[last] + 1
    query = ideal.query[last][longer]
    final = rankings.total(*_discounted(retrieved))[query] / best[last][longer]
    mean = share(sums + rankings.total(query, final), steps + rankings.total(query))
    return np.where(rankings.relevant(rel).n_known > 0, mean, 0.0)


@measure("nDCGRel", base=_WithGains)
def ndcg_at_relevant(rankings: Rankings, gains: str | None = GAINS) -> Floats:
    """nDCG at each relevant document.

    It is taken at the rank of each one retrieved, and at the end of the ranking for each one
    missed.

    Formula: mean over relevant documents of nDCG at their rank
    Misleads where: hardly used elsewhere
    Source: trec_eval ndcg_rel
    """
    retrieved, ideal = _both(rankings, gains)
    dcg = running(*_discounted(retrieved))
    n_ideal = rankings.total(ideal.query)
    wanted = retrieved.gain > 0
    query, rank = retrieved.query[wanted], retrieved.rank[wanted]
    ideal_here = _dcg_at(rankings, ideal, query, rank)
    sums = rankings.total(query, share(dcg[wanted], ideal_here))
    missed = n_ideal - rankings.total(query)
    final = share(rankings.total(*_discounted(retrieved)), rankings.total(*_discounted(ideal)))
    return share(sums + missed * final, n_ideal)


@measure("G", base=_WithGains)
def normalised_gain(rankings: Rankings, gains: str | None = GAINS) -> Floats:
    """Normalised gain.

    The discount grows with what the ideal ranking would have gained down to that rank beyond what
    this one did.

    Formula: Σ g(i) / log2(2 + cost(i) - gain so far), over the ideal total gain
    Misleads where: hardly used elsewhere
    Source: trec_eval G
    """
    retrieved, ideal = _both(rankings, gains)
    # A rank costs the ideal gain there, but at least 1 (also below the ideal ranking's end).
    extra = running(ideal.query, np.maximum(ideal.gain, 1.0) - 1.0)
    cost = retrieved.rank + _last_before(rankings, ideal, extra, retrieved.query, retrieved.rank)
    gained = running(retrieved.query, retrieved.gain)
    worth = retrieved.gain / np.log2(2 + cost - gained)
    return share(rankings.total(retrieved.query, worth), rankings.total(ideal.query, ideal.gain))


@measure("binG")
def binary_g(rankings: Rankings, rel: int = REL) -> Floats:
    """Normalised gain, binary.

    Formula: Σ over relevant ranks of 1 / log2(2 + irrelevant ranks above) / R
    Misleads where: hardly used elsewhere
    Source: trec_eval binG
    """
    relevant = rankings.relevant(rel)
    worth = 1 / np.log2(2 + relevant.rank - relevant.nth)
    return share(rankings.total(relevant.query, worth), relevant.n_known)


def _persistence() -> Any:
    """How likely a reader goes on to the next rank."""
    return param(0.8, "persistence, between 0 and 1", minimum=0, maximum=1, exclusive=True)


@measure("RBP")
def rank_biased_precision(
    rankings: Rankings,
    p: float = _persistence(),
    rel: int = REL,
    graded: bool = param(False, "weigh grades"),
) -> Floats:
    """Rank-biased precision.

    With ``graded`` the gain is the grade, divided by the query's highest grade where that is above
    1 (as trec_eval does); otherwise a document is relevant or not.

    Formula: (1 - p) Σ p^(i - 1) rel(i)
    Misleads where: the choice of p decides how deep it looks
    Source: Moffat and Zobel, ACM TOIS 2008; trec_eval rbp (p=0.9, graded)
    """
    if graded:
        query, rank, grade = rankings.once(_retrieved, "linear")
        highest = np.ones(len(rankings))
        np.maximum.at(highest, rankings.gold_query, rankings.gold_grade)
        gain = grade / highest[query]
    else:
        query, rank = rankings.relevant(rel)[:2]
        gain = np.ones(len(query))
    weight = np.power(p, rank - 1, dtype=np.float64)
    return rankings.total(query, gain * weight) * (1 - p)


@measure("RBPResid", higher_is_better=False)
def rank_biased_residual(
    rankings: Rankings,
    p: float = _persistence(),
    published: bool = param(False, "trec_eval's value"),
) -> Floats:
    """Residual of rank-biased precision.

    With ``published`` it is 0 where everything retrieved is judged, as in trec_eval, which then
    leaves out the ranks below the end.

    Formula: weight of the unjudged ranks, and of those below the end
    Misleads where: an uncertainty, not quality
    Source: Moffat and Zobel, ACM TOIS 2008; trec_eval rbp_resid (p=0.9, published)
    """
    query, rank = rankings.relevant(JUDGED)[:2]
    weight = np.power(p, rank - 1, dtype=np.float64)
    residual = 1 - rankings.total(query, weight) * (1 - p)
    if published:
        residual[rankings.total(query) == rankings.n_retrieved] = 0.0
    return residual


class _OnScale(RankingMetric):
    max_grade: int | None

    def score_window(self, window: Window) -> Sequence[Outcome]:
        if self.max_grade is None:
            top: dict[str, Any] = {"max_grade": max(1, window.all_samples.once(_largest_grade))}
            return dataclasses.replace(self, **top).score_window(window)
        fitting = [_largest_grade([sample]) <= self.max_grade for sample in window.samples]
        if all(fitting):
            return super().score_window(window)
        applicable = [sample for sample, fits in zip(window.samples, fitting, strict=True) if fits]
        scored = iter(super().score_window(Window(applicable)))
        above = Unscored(Reason.UNDEFINED, f"a gold passage's grade is above {self.max_grade}")
        return [next(scored) if fits else above for fits in fitting]


def _largest_grade(samples: Iterable[Sample]) -> int:
    return max((gold.grade for sample in samples for gold in sample.gold or ()), default=0)


_NEVER_CERTAIN = 1 - 2.0**-53
"""Highest probability of stopping: with grades above 53 it would be rounded to 1."""


@measure("ERR", base=_OnScale)
def expected_reciprocal_rank(
    rankings: Rankings,
    k: int | None = WITHIN_K,
    max_grade: int | None = param(
        None, "highest grade of the scale (default: the qrels' largest)", minimum=1
    ),
) -> Floats:
    """Expected reciprocal rank.

    A document of grade g satisfies the reader with probability ``(2^g - 1) / 2^max``, an unjudged
    one never. ``max`` is the highest grade of all judgements; set ``max_grade`` to the highest of
    the scale to compare values of different qrels.

    Formula: Σ (1 / i) × p(i) × Π over j < i of (1 - p(j)), p = (2^grade - 1) / 2^max
    Misleads where: hardly sees anything below the first good hit
    Source: Chapelle et al., CIKM 2009
    """
    highest = rankings.largest_grade if max_grade is None else max_grade
    if rankings.largest_grade > highest:
        raise UsageError(
            f"ERR(max_grade={highest}): the judgements hold grade {rankings.largest_grade}, above "
            f"max_grade={highest}."
        )
    inside = rankings.hit_grade > 0
    if k is not None:
        inside &= rankings.hit_rank <= k
    query, rank = rankings.hit_query[inside], rankings.hit_rank[inside]
    grade = rankings.hit_grade[inside].astype(np.float64)
    stops = np.minimum(np.exp2(grade - highest) - np.exp2(-float(highest)), _NEVER_CERTAIN)
    # A sum of logarithms is a product that restarts with each query.
    goes_on = np.log1p(-stops)
    reached = np.exp(running(query, goes_on) - goes_on)
    return rankings.total(query, stops * reached / rank)


class _Gained(NamedTuple):
    """Documents with their gains, sorted by query and rank (from 1)."""

    query: Ints
    rank: Ints
    gain: Floats


def read_gains(text: str | None) -> tuple[tuple[int, float], ...]:
    """Gains written as ``1:3;2:9``, as pairs of grade and gain."""
    pairs = []
    for piece in text.split(";") if text else ():
        grade, _, gain = piece.partition(":")
        try:
            pairs.append((int(grade), float(gain)))
        except ValueError:
            raise UsageError(f"gains={text}: write grade:gain;grade:gain, as in 1:3;2:9.") from None
        if not np.isfinite(pairs[-1][1]):
            raise UsageError(f"gains={text}: gains must be finite.")
    return tuple(pairs)


def _gain(grade: Ints, rule: Gains) -> Floats:
    linear = np.maximum(grade, 0).astype(np.float64)
    if rule == "linear":
        return linear
    if rule == "exp":
        return np.exp2(linear) - 1
    for level_, gain in rule:
        linear[grade == int(level_)] = gain
    return linear


def _retrieved(rankings: Rankings, rule: Gains) -> _Gained:
    """The retrieved documents that the qrels name."""
    return _Gained(rankings.hit_query, rankings.hit_rank, _gain(rankings.hit_grade, rule))


def _ideal(rankings: Rankings, rule: Gains) -> _Gained:
    """The best possible ranking, without documents that gain nothing."""
    gain = _gain(rankings.gold_grade, rule)
    gain[rankings.gold_grade < 0] = 0.0
    useful = gain > 0
    query, gain = rankings.gold_query[useful], gain[useful]
    # Grades are whole numbers, which sort faster; gains of one's own choice may run against them.
    order = by_query(query, -rankings.gold_grade[useful] if isinstance(rule, str) else -gain)
    return _Gained(query[order], nth_of_query(query[order]), gain[order])


def _both(rankings: Rankings, gains: str | None, gain: Gains = "linear") -> tuple[_Gained, _Gained]:
    """What was retrieved, and the ideal ranking."""
    rule = read_gains(gains) or gain
    return rankings.once(_retrieved, rule), rankings.once(_ideal, rule)


def _discounted(documents: _Gained, k: int | None = None) -> tuple[Ints, Floats]:
    """Queries and discounted gains of the documents within rank k."""
    inside = slice(None) if k is None else documents.rank <= k
    return documents.query[inside], documents.gain[inside] / np.log2(documents.rank[inside] + 1)


def _dcg_at(rankings: Rankings, documents: _Gained, query: Ints, rank: Ints) -> Floats:
    """The discounted gain of ``documents`` down to each (query, rank), inclusive."""
    return _last_before(rankings, documents, running(*_discounted(documents)), query, rank)


def _last_before(
    rankings: Rankings, documents: _Gained, sums: Floats, query: Ints, rank: Ints
) -> Floats:
    """The running sum at the last of the documents within each (query, rank); 0 if none is."""
    below = max(int(documents.rank.max(initial=0)), int(rank.max(initial=0))) + 1
    places = documents.query * below + documents.rank
    at = np.searchsorted(places, query * below + rank, side="right") - 1
    inside = (
        (at >= 0) & (documents.query[at] == query) if len(places) else np.zeros(len(query), bool)
    )
    out = np.zeros(len(query))
    out[inside] = sums[at[inside]]
    return out
