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
    """Precision of everything retrieved.

    Formula: relevant retrieved / retrieved
    Misleads where: retrieving less makes it better
    Good for: systems that return a set of their own size
    Source: trec_eval set_P
    """

    rel: int = level()

    name = "SetP"

    def values(self, rankings: Rankings) -> Floats:
        return share(rankings.relevant(self.rel).n_retrieved, rankings.n_retrieved)


@register
class SetRecall(RankingMetric):
    """Recall of everything retrieved.

    Formula: relevant retrieved / R
    Misleads where: retrieving everything makes 1
    Good for: systems that return a set of their own size
    Source: trec_eval set_recall
    """

    rel: int = level()

    name = "SetR"

    def values(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)
        return share(relevant.n_retrieved, relevant.n_known)


@register
class SetF(RankingMetric):
    """F measure of everything retrieved.

    Formula: (x + 1) P R / (R + x P)
    Misleads where: no order at all
    Good for: one number for systems that return a set of their own size
    Source: van Rijsbergen, Information Retrieval (1979); trec_eval set_F
    """

    x: float = param(1.0, "importance of recall relative to precision (beta squared)", minimum=0)
    rel: int = level()

    name = "SetF"

    def values(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)
        precision = share(relevant.n_retrieved, rankings.n_retrieved)
        recall = share(relevant.n_retrieved, relevant.n_known)
        return share((self.x + 1) * precision * recall, recall + self.x * precision)


@register
class SetAveragePrecision(RankingMetric):
    """Average precision of everything retrieved.

    Formula: SetP × SetR
    Misleads where: no order at all
    Good for: comparison with older set-based results
    Source: trec_eval set_map
    """

    rel: int = level()

    name = "SetAP"

    def values(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)
        return share(relevant.n_retrieved**2, relevant.n_known * rankings.n_retrieved)


@register
class SetRelativePrecision(RankingMetric):
    """Precision of everything retrieved, relative to the best possible.

    Formula: SetP / min(1, R / retrieved)
    Misleads where: no order at all
    Good for: sets of very different sizes
    Source: trec_eval set_relative_P
    """

    rel: int = level()

    name = "SetRelP"

    def values(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)
        return share(relevant.n_retrieved, np.minimum(relevant.n_known, rankings.n_retrieved))


@register
class RelativePrecision(MeasureAtK):
    """Precision at k, relative to the best possible.

    Formula: P@k / min(1, R / k)
    Misleads where: with one relevant document it only says whether it was found
    Good for: queries with fewer relevant documents than k
    Source: trec_eval relative_P
    """

    name = "RelP"

    def values(self, rankings: Rankings) -> Floats:
        possible = np.minimum(rankings.relevant(self.rel).n_known, self.k)
        return share(rankings.hits(self.rel, self.k), possible)


@register
class Utility(RankingMetric):
    """Utility of everything retrieved.

    Formula: weighted sum of relevant and irrelevant, retrieved and not
    Misleads where: the weights decide
    Good for: filtering, where each document has a price
    Source: trec_eval utility
    """

    found: float = param(1.0, "worth of a relevant document retrieved")
    noise: float = param(-1.0, "worth of an irrelevant document retrieved")
    missed: float = param(0.0, "worth of a relevant document not retrieved")
    rest: float = param(0.0, "worth of an irrelevant document not retrieved")
    collection: int = param(0, "documents in the collection; needed for 'rest'", minimum=0)
    rel: int = level()

    name = "Utility"
    low = None
    high = None

    def values(self, rankings: Rankings) -> Floats:
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
    """Unjudged documents at k.

    Formula: unjudged among the first k / k
    Misleads where: no quality
    Good for: a warning that the other measures rest on guesses
    Source: trec_eval unj
    """

    k: int = cutoff(..., "rank cut-off")

    name = "Unjudged"
    higher_is_better = None

    def values(self, rankings: Rankings) -> Floats:
        inside = np.minimum(rankings.n_retrieved, self.k)
        return (inside - rankings.hits(JUDGED, self.k)) / self.k


class _Count(RankingMetric):
    """A number of documents or queries; summed over queries.

    Formula: a count
    Misleads where: a count, no quality
    Good for: seeing what the other numbers rest on
    """

    high = None
    higher_is_better = None
    aggregate = "sum"

    def shown_value(self, value: float) -> int:
        return int(value)


@register
class NumQueries(_Count):
    """Judged queries.

    Source: trec_eval num_q
    """

    name = "NumQ"
    aliases: ClassVar[Mapping[str, str]] = {"num_q": "NumQ"}

    def values(self, rankings: Rankings) -> Floats:
        return np.ones(len(rankings))


@register
class NumRetrieved(_Count):
    """Documents retrieved.

    Source: trec_eval num_ret
    """

    name = "NumRet"
    aliases: ClassVar[Mapping[str, str]] = {"num_ret": "NumRet"}

    def values(self, rankings: Rankings) -> Floats:
        return rankings.n_retrieved.astype(np.float64)


@register
class NumRelevant(_Count):
    """Relevant documents known.

    Source: trec_eval num_rel
    """

    rel: int = level()

    name = "NumRel"
    aliases: ClassVar[Mapping[str, str]] = {"num_rel": "NumRel"}

    def values(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel).n_known.astype(np.float64)


@register
class NumRelevantRetrieved(_Count):
    """Relevant documents retrieved.

    Source: trec_eval num_rel_ret
    """

    rel: int = level()

    name = "NumRelRet"
    aliases: ClassVar[Mapping[str, str]] = {"num_rel_ret": "NumRelRet"}

    def values(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel).n_retrieved.astype(np.float64)


@register
class NumIrrelevantJudgedRetrieved(_Count):
    """Judged irrelevant documents retrieved.

    Source: trec_eval num_nonrel_judged_ret
    """

    rel: int = level()

    name = "NumNonrelJudgedRet"
    aliases: ClassVar[Mapping[str, str]] = {"num_nonrel_judged_ret": "NumNonrelJudgedRet"}

    def values(self, rankings: Rankings) -> Floats:
        judged, relevant = rankings.relevant(JUDGED), rankings.relevant(self.rel)
        return (judged.n_retrieved - relevant.n_retrieved).astype(np.float64)
