"""Measures of the retrieved set as a whole, counts, and shares of unjudged documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import cutoff, param
from ragassay.metrics.retrieval.ranking_metric import MeasureAtK, RankingMetric, level
from ragassay.metrics.retrieval.rankings import JUDGED, Floats, Rankings, share


@register
class SetPrecision(RankingMetric):
    """Share of the retrieved documents that are relevant."""

    rel: int = level()

    name = "SetP"
    title = "Precision of everything retrieved"
    source = "trec_eval set_P"
    recommended_for = "systems that return a set of their own size"

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents retrieved over documents retrieved."""
        return share(rankings.relevant(self.rel).n_retrieved, rankings.n_retrieved)


@register
class SetRecall(RankingMetric):
    """Share of the known relevant documents that were retrieved at any rank."""

    rel: int = level()

    name = "SetR"
    title = "Recall of everything retrieved"
    source = "trec_eval set_recall"
    recommended_for = "systems that return a set of their own size"

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents retrieved over those known."""
        relevant = rankings.relevant(self.rel)
        return share(relevant.n_retrieved, relevant.n_known)


@register
class SetF(RankingMetric):
    """Weighted harmonic mean of set precision and set recall: ``(x + 1) P R / (R + x P)``."""

    x: float = param(1.0, "importance of recall relative to precision (beta squared)", minimum=0)
    rel: int = level()

    name = "SetF"
    title = "F measure of everything retrieved"
    source = "van Rijsbergen, Information Retrieval (1979); trec_eval set_F"
    recommended_for = "one number for systems that return a set of their own size"

    def values(self, rankings: Rankings) -> Floats:
        """The weighted harmonic mean; 0 where both are 0."""
        relevant = rankings.relevant(self.rel)
        precision = share(relevant.n_retrieved, rankings.n_retrieved)
        recall = share(relevant.n_retrieved, relevant.n_known)
        return share((self.x + 1) * precision * recall, recall + self.x * precision)


@register
class SetAveragePrecision(RankingMetric):
    """Set precision times set recall."""

    rel: int = level()

    name = "SetAP"
    title = "Average precision of everything retrieved"
    source = "trec_eval set_map"
    recommended_for = "comparison with older set-based results"

    def values(self, rankings: Rankings) -> Floats:
        """Set precision times set recall for each query."""
        relevant = rankings.relevant(self.rel)
        return share(relevant.n_retrieved**2, relevant.n_known * rankings.n_retrieved)


@register
class SetRelativePrecision(RankingMetric):
    """Set precision, divided by the highest that a set of this size could have."""

    rel: int = level()

    name = "SetRelP"
    title = "Precision of everything retrieved, relative to the best possible"
    source = "trec_eval set_relative_P"
    recommended_for = "sets of very different sizes"

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents retrieved over the most that could be."""
        relevant = rankings.relevant(self.rel)
        return share(relevant.n_retrieved, np.minimum(relevant.n_known, rankings.n_retrieved))


@register
class RelativePrecision(MeasureAtK):
    """Precision at k, divided by the highest that was possible there."""

    name = "RelP"
    title = "Precision at k, relative to the best possible"
    source = "trec_eval relative_P"
    recommended_for = "queries with fewer relevant documents than k"

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents within k over the most that could be there."""
        possible = np.minimum(rankings.relevant(self.rel).n_known, self.k)
        return share(rankings.hits(self.rel, self.k), possible)


@register
class Utility(RankingMetric):
    """A weighted sum over the four cells of the contingency table."""

    found: float = param(1.0, "worth of a relevant document retrieved")
    noise: float = param(-1.0, "worth of an irrelevant document retrieved")
    missed: float = param(0.0, "worth of a relevant document not retrieved")
    rest: float = param(0.0, "worth of an irrelevant document not retrieved")
    collection: int = param(0, "documents in the collection; needed for 'rest'", minimum=0)
    rel: int = level()

    name = "Utility"
    title = "Utility of everything retrieved"
    source = "trec_eval utility"
    low = None
    high = None
    recommended_for = "filtering, where each document has a price"

    def values(self, rankings: Rankings) -> Floats:
        """The sum of the worths of all documents of each query."""
        relevant, retrieved = rankings.relevant(self.rel), rankings.n_retrieved
        irrelevant = retrieved - relevant.n_retrieved
        worth: Floats = (
            self.found * relevant.n_retrieved
            + self.noise * irrelevant
            + self.missed * (relevant.n_known - relevant.n_retrieved)
            + self.rest * (self.collection - relevant.n_known - irrelevant)
        )
        return worth


@register
class Unjudged(RankingMetric):
    """Share of the first k ranks that hold an unjudged document. Always divided by k."""

    k: int = cutoff(..., "rank cut-off")

    name = "Unjudged"
    title = "Unjudged documents at k"
    source = "trec_eval unj"
    higher_is_better = None
    recommended_for = "a warning that the other measures rest on guesses"

    def values(self, rankings: Rankings) -> Floats:
        """Retrieved and unjudged documents within k, divided by k."""
        inside = np.minimum(rankings.n_retrieved, self.k)
        return (inside - rankings.hits(JUDGED, self.k)) / self.k


class _Count(RankingMetric):
    """A number of documents or queries; summed over queries."""

    high = None
    higher_is_better = None
    aggregate = "sum"
    recommended_for = "seeing what the other numbers rest on"

    def shown_value(self, value: float) -> int:
        """A whole number."""
        return int(value)


@register
class NumQueries(_Count):
    """1 for each judged query."""

    name = "NumQ"
    title = "Judged queries"
    source = "trec_eval num_q"
    aliases: ClassVar[Mapping[str, str]] = {"num_q": "NumQ"}

    def values(self, rankings: Rankings) -> Floats:
        """1 for each query."""
        return np.ones(len(rankings))


@register
class NumRetrieved(_Count):
    """Documents retrieved."""

    name = "NumRet"
    title = "Documents retrieved"
    source = "trec_eval num_ret"
    aliases: ClassVar[Mapping[str, str]] = {"num_ret": "NumRet"}

    def values(self, rankings: Rankings) -> Floats:
        """Documents retrieved for each query."""
        return rankings.n_retrieved.astype(np.float64)


@register
class NumRelevant(_Count):
    """Relevant documents that are known."""

    rel: int = level()

    name = "NumRel"
    title = "Relevant documents known"
    source = "trec_eval num_rel"
    aliases: ClassVar[Mapping[str, str]] = {"num_rel": "NumRel"}

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents known for each query."""
        return rankings.relevant(self.rel).n_known.astype(np.float64)


@register
class NumRelevantRetrieved(_Count):
    """Relevant documents retrieved."""

    rel: int = level()

    name = "NumRelRet"
    title = "Relevant documents retrieved"
    source = "trec_eval num_rel_ret"
    aliases: ClassVar[Mapping[str, str]] = {"num_rel_ret": "NumRelRet"}

    def values(self, rankings: Rankings) -> Floats:
        """Relevant documents retrieved for each query."""
        return rankings.relevant(self.rel).n_retrieved.astype(np.float64)


@register
class NumIrrelevantJudgedRetrieved(_Count):
    """Judged irrelevant documents retrieved."""

    rel: int = level()

    name = "NumNonrelJudgedRet"
    title = "Judged irrelevant documents retrieved"
    source = "trec_eval num_nonrel_judged_ret"
    aliases: ClassVar[Mapping[str, str]] = {"num_nonrel_judged_ret": "NumNonrelJudgedRet"}

    def values(self, rankings: Rankings) -> Floats:
        """Judged documents retrieved, without the relevant ones."""
        judged, relevant = rankings.relevant(JUDGED), rankings.relevant(self.rel)
        return (judged.n_retrieved - relevant.n_retrieved).astype(np.float64)
