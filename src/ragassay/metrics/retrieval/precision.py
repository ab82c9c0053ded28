"""The usual measures of retrieval evaluation, over graded document ids.

All follow trec_eval 10: precision is divided by the cut-off even where fewer documents were
retrieved, recall and average precision by all relevant documents that are known, and a query
without relevant documents counts 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import cutoff, param
from ragassay.metrics.retrieval.ranking_metric import MeasureAtK, RankingMetric, level
from ragassay.metrics.retrieval.rankings import JUDGED, Floats, Ints, Rankings, share


@register
class Precision(MeasureAtK):
    """Share of the first k ranks that hold a relevant document. Always divided by k."""

    name = "P"
    title = "Precision at k"
    source = "trec_eval P"
    recommended_for = "how clean the first k passages are, as a reader or a prompt sees them"
    aliases: ClassVar[Mapping[str, str]] = {"Precision": "P"}

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents within the first k ranks, divided by k."""
        return rankings.hits(self.rel, self.k) / self.k


@register
class Recall(MeasureAtK):
    """Share of the known relevant documents that are within the first k ranks."""

    name = "Recall"
    title = "Recall at k"
    source = "trec_eval recall"
    recommended_for = "whether what the answer needs reaches the generator at all"
    aliases: ClassVar[Mapping[str, str]] = {"R": "Recall"}

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents within the first k ranks, divided by all known ones."""
        return share(rankings.hits(self.rel, self.k), rankings.relevant(self.rel).n_known)


@register
class F1(MeasureAtK):
    """Harmonic mean of precision and recall at k; 0 when nothing relevant was found."""

    name = "F1"
    aliases: ClassVar[Mapping[str, str]] = {"F1-score": "F1"}
    title = "F1 at k"
    source = "van Rijsbergen, Information Retrieval (1979)"
    recommended_for = "one number for precision and recall at a fixed depth"

    def values(self, rankings: Rankings) -> Floats:
        """Twice the relevant documents within k, divided by k plus all known ones."""
        known = rankings.relevant(self.rel).n_known
        return share(2 * rankings.hits(self.rel, self.k), self.k + known)


@register
class AveragePrecision(RankingMetric):
    """Precision at the rank of each relevant document within k, averaged over all known ones."""

    k: int | None = cutoff()
    rel: int = level()

    name = "AP"
    title = "Average precision"
    source = "trec_eval map, map_cut"
    recommended_for = "one number for a whole ranking when relevance is yes or no"
    aliases: ClassVar[Mapping[str, str]] = {"MAP": "AP"}

    def values(self, rankings: Rankings) -> Floats:
        """Sum of the precisions at relevant ranks within k, divided by all known ones."""
        relevant = rankings.relevant(self.rel)
        inside = slice(None) if self.k is None else relevant.rank <= self.k
        precision = relevant.nth[inside] / relevant.rank[inside]
        return share(rankings.total(relevant.query[inside], precision), relevant.n_known)


@register
class GeometricAveragePrecision(AveragePrecision):
    """Average precision, averaged over queries geometrically (values below 0.00001 count as that).

    Improvements of the hardest queries weigh most. A single sample shows plain AP.
    """

    name = "GMAP"
    title = "Average precision, geometric mean"
    source = "trec_eval gm_map"
    aggregate = "geometric"
    recommended_for = "whether the hardest queries improve"
    aliases: ClassVar[Mapping[str, str]] = {}


@register
class SmoothedAveragePrecision(RankingMetric):
    """``log((1 + s) / (1 + R - s))``, where s is the sum of precisions at the ranks of the relevant
    documents retrieved and R the number of relevant ones.

    It orders the rankings of a query as AP does and varies less in the mean. It is below 0 where AP
    is below one half.
    """

    rel: int = level()

    name = "YAAP"
    title = "Yet another average precision"
    source = "Robertson, ECIR 2012; trec_eval yaap"
    low = None
    high = None
    recommended_for = "means and tests over queries that differ much in difficulty"

    def values(self, rankings: Rankings) -> Floats:
        """The smoothed logarithm for each query; it may be negative."""
        relevant = rankings.relevant(self.rel)
        total = rankings.total(relevant.query, relevant.nth / relevant.rank)
        smoothed: Floats = np.log((1 + total) / (1 + relevant.n_known - total))
        return smoothed


@register
class ReciprocalRank(RankingMetric):
    """One divided by the rank of the first relevant document; 0 when there is none within k."""

    k: int | None = cutoff()
    rel: int = level()

    name = "RR"
    title = "Reciprocal rank"
    source = "trec_eval recip_rank"
    recommended_for = "how soon the first useful passage comes, where one is enough"
    aliases: ClassVar[Mapping[str, str]] = {"MRR": "RR"}

    def values(self, rankings: Rankings) -> Floats:
        """One over the rank of the first relevant document within k, else 0."""
        relevant = rankings.relevant(self.rel)
        first = relevant.nth == 1
        if self.k is not None:
            first &= relevant.rank <= self.k
        return rankings.total(relevant.query[first], 1 / relevant.rank[first])


@register
class Success(MeasureAtK):
    """1 when a relevant document is within the first k ranks, else 0."""

    name = "Success"
    title = "Success (hit rate) at k"
    source = "trec_eval success"
    recommended_for = "share of queries for which retrieval found anything at all"
    aliases: ClassVar[Mapping[str, str]] = {
        "HitRate": "Success",
        "hit_rate": "Success",
        "Hit": "Success",
    }

    def values(self, rankings: Rankings) -> Floats:
        """1 or 0 for each query."""
        return np.minimum(rankings.hits(self.rel, self.k), 1.0)


@register
class RPrecision(RankingMetric):
    """Precision at rank R, the number of known relevant documents, or at a multiple of R.

    The depth is a whole number, as in trec_eval: the whole part of ``mult * R + 0.9``.
    """

    mult: float = param(1.0, "multiple of the number of relevant documents", minimum=0)
    rel: int = level()

    name = "Rprec"
    title = "Precision at R relevant documents"
    source = "trec_eval Rprec, Rprec_mult"
    recommended_for = "precision at a depth that suits each query"

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents within the depth, divided by the depth."""
        relevant = rankings.relevant(self.rel)
        depth = np.trunc(self.mult * relevant.n_known + 0.9)
        inside = relevant.rank <= depth[relevant.query]
        return share(rankings.total(relevant.query[inside]), depth)


@register
class BinaryPreference(RankingMetric):
    """How rarely judged irrelevant documents rank above relevant ones; unjudged documents are
    ignored.

    Of the irrelevant ones only the first R count, R being the number of relevant ones.
    """

    rel: int = level()

    name = "Bpref"
    title = "Binary preference"
    source = "Buckley and Voorhees, SIGIR 2004; trec_eval bpref"
    recommended_for = "incomplete judgements: it ignores what nobody judged"

    def values(self, rankings: Rankings) -> Floats:
        """Mean over the known relevant documents of their preference over irrelevant ones."""
        relevant = rankings.relevant(self.rel)
        above = rankings.once(judged_above, self.rel) - (relevant.nth - 1)
        known = relevant.n_known
        n_irrelevant = rankings.relevant(JUDGED).n_known - known
        most = np.minimum(known, n_irrelevant)[relevant.query]
        preferred = 1 - share(np.minimum(above, known[relevant.query]), most)
        return share(rankings.total(relevant.query, preferred), known)


@register
class GeometricBinaryPreference(BinaryPreference):
    """Bpref, averaged over queries geometrically (values below 0.00001 count as that). A single
    sample shows plain Bpref."""

    name = "GMBpref"
    title = "Binary preference, geometric mean"
    source = "trec_eval gm_bpref"
    aggregate = "geometric"
    recommended_for = "whether the hardest queries improve, with incomplete judgements"


@register
class Judged(RankingMetric):
    """Share of the first k ranks that hold a judged document. Always divided by k."""

    k: int = cutoff(..., "rank cut-off")

    name = "Judged"
    title = "Judged documents at k"
    source = "ir_measures Judged"
    recommended_for = "how far the other measures can be trusted: a low share means many unknowns"

    def values(self, rankings: Rankings) -> Floats:
        """Judged documents within the first k ranks, divided by k."""
        return rankings.hits(JUDGED, self.k) / self.k


def judged_above(rankings: Rankings, rel: int) -> Ints:
    """For each retrieved relevant document: the number of judged documents above it, relevant or
    not.

    Args:
        rankings: the rankings.
        rel: lowest grade that is relevant.
    """
    grades = rankings.hit_grade[rankings.hit_grade >= JUDGED]
    return rankings.relevant(JUDGED).nth[grades >= rel] - 1
