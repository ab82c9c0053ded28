"""Measures of the retrieved set as a whole, counts, and the grades themselves as a string."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.score import Outcome, Score
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import cutoff, param
from ragassay.metrics.core.window import Window
from ragassay.metrics.retrieval.ranking_metric import AT_K, REL, RankingMetric, measure, tabulate
from ragassay.metrics.retrieval.rankings import JUDGED, Floats, Rankings, share


@measure("SetP")
def set_precision(rankings: Rankings, rel: int = REL) -> Floats:
    """Precision of everything retrieved.

    Formula: relevant retrieved / retrieved
    Misleads where: retrieving less makes it better
    Source: trec_eval set_P
    """
    return share(rankings.relevant(rel).n_retrieved, rankings.n_retrieved)


@measure("SetR")
def set_recall(rankings: Rankings, rel: int = REL) -> Floats:
    """Recall of everything retrieved.

    Formula: relevant retrieved / R
    Misleads where: retrieving everything makes 1
    Source: trec_eval set_recall
    """
    relevant = rankings.relevant(rel)
    return share(relevant.n_retrieved, relevant.n_known)


@measure("SetF")
def set_f(
    rankings: Rankings,
    x: float = param(1.0, "importance of recall relative to precision (beta squared)", minimum=0),
    rel: int = REL,
) -> Floats:
    """F measure of everything retrieved.

    Formula: (x + 1) P R / (R + x P)
    Misleads where: no order at all
    Source: van Rijsbergen, Information Retrieval (1979); trec_eval set_F
    """
    relevant = rankings.relevant(rel)
    precision = share(relevant.n_retrieved, rankings.n_retrieved)
    recall = share(relevant.n_retrieved, relevant.n_known)
    return share((x + 1) * precision * recall, recall + x * precision)


@measure("SetAP")
def set_average_precision(rankings: Rankings, rel: int = REL) -> Floats:
    """Average precision of everything retrieved.

    Formula: SetP × SetR
    Misleads where: no order at all
    Source: trec_eval set_map
    """
    relevant = rankings.relevant(rel)
    return share(relevant.n_retrieved**2, relevant.n_known * rankings.n_retrieved)


@measure("SetRelP")
def set_relative_precision(rankings: Rankings, rel: int = REL) -> Floats:
    """Precision of everything retrieved, relative to the best possible.

    Formula: SetP / min(1, R / retrieved)
    Misleads where: no order at all
    Source: trec_eval set_relative_P
    """
    relevant = rankings.relevant(rel)
    return share(relevant.n_retrieved, np.minimum(relevant.n_known, rankings.n_retrieved))


@measure("RelP")
def relative_precision(rankings: Rankings, k: int = AT_K, rel: int = REL) -> Floats:
    """Precision at k, relative to the best possible.

    Formula: P@k / min(1, R / k)
    Misleads where: with one relevant document it only says whether it was found
    Source: trec_eval relative_P
    """
    possible = np.minimum(rankings.relevant(rel).n_known, k)
    return share(rankings.hits(rel, k), possible)


@measure("Utility", low=None, high=None)
def utility(
    rankings: Rankings,
    found: float = param(1.0, "worth of a relevant document retrieved"),
    noise: float = param(-1.0, "worth of an irrelevant document retrieved"),
    missed: float = param(0.0, "worth of a relevant document not retrieved"),
    rest: float = param(0.0, "worth of an irrelevant document not retrieved"),
    collection: int = param(0, "documents in the collection; needed for 'rest'", minimum=0),
    rel: int = REL,
) -> Floats:
    """Utility of everything retrieved.

    Formula: weighted sum of relevant and irrelevant, retrieved and not
    Misleads where: the weights decide
    Source: trec_eval utility
    """
    relevant, retrieved = rankings.relevant(rel), rankings.n_retrieved
    irrelevant = retrieved - relevant.n_retrieved
    worth: Floats = (
        found * relevant.n_retrieved
        + noise * irrelevant
        + missed * (relevant.n_known - relevant.n_retrieved)
        + rest * (collection - relevant.n_known - irrelevant)
    )
    return worth


@measure("Unjudged", higher_is_better=None)
def unjudged(rankings: Rankings, k: int = AT_K) -> Floats:
    """Unjudged documents at k.

    Formula: unjudged among the first k / k
    Misleads where: no quality
    Source: trec_eval unj
    """
    inside = np.minimum(rankings.n_retrieved, k)
    return (inside - rankings.hits(JUDGED, k)) / k


class _Count(RankingMetric):
    """A number of documents or queries; summed over queries.

    Formula: a count
    Misleads where: a count, no quality
    """

    high = None
    higher_is_better = None
    aggregate = "sum"

    def shown_value(self, value: float) -> int:
        return int(value)


@measure("NumQ", "num_q", base=_Count)
def num_queries(rankings: Rankings) -> Floats:
    """Judged queries.

    Source: trec_eval num_q
    """
    return np.ones(len(rankings))


@measure("NumRet", "num_ret", base=_Count)
def num_retrieved(rankings: Rankings) -> Floats:
    """Documents retrieved.

    Source: trec_eval num_ret
    """
    return rankings.n_retrieved.astype(np.float64)


@measure("NumRel", "num_rel", base=_Count)
def num_relevant(rankings: Rankings, rel: int = REL) -> Floats:
    """Relevant documents known.

    Source: trec_eval num_rel
    """
    return rankings.relevant(rel).n_known.astype(np.float64)


@measure("NumRelRet", "num_rel_ret", base=_Count)
def num_relevant_retrieved(rankings: Rankings, rel: int = REL) -> Floats:
    """Relevant documents retrieved.

    Source: trec_eval num_rel_ret
    """
    return rankings.relevant(rel).n_retrieved.astype(np.float64)


@measure("NumNonrelJudgedRet", "num_nonrel_judged_ret", base=_Count)
def num_irrelevant_judged_retrieved(rankings: Rankings, rel: int = REL) -> Floats:
    """Judged irrelevant documents retrieved.

    Source: trec_eval num_nonrel_judged_ret
    """
    judged, relevant = rankings.relevant(JUDGED), rankings.relevant(rel)
    return (judged.n_retrieved - relevant.n_retrieved).astype(np.float64)


@register
class RelevanceString(RankingMetric):
    """Grades of the first k documents.

    ``0`` to ``9``: the grade; ``>``: a higher one; ``-``: not in the qrels; ``.``: in the qrels
    with a grade below 0.

    Formula: the grades of the first k, a character each
    Misleads where: for reading, no quality
    Source: trec_eval relstring
    """

    k: int = cutoff(10)

    name = "RelString"
    low = None
    high = None
    higher_is_better = None

    def strings(self, rankings: Rankings) -> list[str]:
        """One string a query."""
        rows = [["-"] * n for n in np.minimum(rankings.n_retrieved, self.k).tolist()]
        inside = rankings.hit_rank <= self.k
        for query, rank, grade in zip(
            rankings.hit_query[inside].tolist(),
            rankings.hit_rank[inside].tolist(),
            rankings.hit_grade[inside].tolist(),
            strict=True,
        ):
            rows[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else str(grade)
        return ["".join(characters) for characters in rows]

    def values(self, rankings: Rankings) -> Floats:
        """A label has no number."""
        raise UsageError("RelString is a label; it has no numeric values.")

    def score_window(self, window: Window) -> Sequence[Outcome]:
        table = window.once(tabulate)
        strings = iter(self.strings(table.rankings))
        return [problem or Score(next(strings)) for problem in table.problems]
