"""Precision at levels of recall, inferred average precision, and the ranking itself as a string."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.score import Outcome, Score
from ragassay.metrics.core.metric import register
from ragassay.metrics.core.metric_parameters import cutoff, param
from ragassay.metrics.core.window import Window
from ragassay.metrics.retrieval.precision import judged_above
from ragassay.metrics.retrieval.ranking_metric import REL, RankingMetric, measure, tabulate
from ragassay.metrics.retrieval.rankings import Floats, Rankings, nth_of_query, share

ELEVEN_LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
INFERENCE_SMOOTHING = 1e-5


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
    Good for: precision-recall curves
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
        read_levels(self.levels)


@measure("AP11", base=_AtLevels)
def eleven_point_average(
    rankings: Rankings,
    levels: str | None = param(None, "other recall levels: 0.25;0.5;0.75"),
    rel: int = REL,
) -> Floats:
    """11-point average precision.

    Formula: mean of the interpolated precision at recall 0, 0.1, …, 1
    Misleads where: of short lists it is mostly interpolation
    Good for: comparison with older results
    Source: trec_eval 11pt_avg
    """
    chosen = read_levels(levels)
    total: Floats = np.zeros(len(rankings))
    for recall in chosen:
        # One after the other: numpy's own sum rounds differently for one query and for many.
        total = total + interpolated_precision(rankings, recall, rel)
    return total / len(chosen)


def read_levels(text: str | None) -> tuple[float, ...]:
    """The recall levels of a text such as ``0.25;0.5``; trec_eval's eleven for ``None``.

    Raises:
        UsageError: a piece is no number from 0 to 1.
    """
    if text is None:
        return ELEVEN_LEVELS
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
    Good for: judgements of a random part of the pool
    Source: Yilmaz and Aslam, CIKM 2006; trec_eval infAP
    """
    documents = rankings.relevant(rel)
    above = documents.rank - 1
    relevant = documents.nth - 1
    judged = rankings.once(judged_above, rel)
    pooled = rankings.once(_pooled_above, rel)
    share_pooled = share(pooled, above)
    share_relevant = (relevant + INFERENCE_SMOOTHING) / (judged + 2 * INFERENCE_SMOOTHING)
    expected = (1 + above * share_pooled * share_relevant) / documents.rank
    return share(rankings.total(documents.query, expected), documents.n_known)


@register
class RelevanceString(RankingMetric):
    """Grades of the first k documents.

    ``0`` to ``9``: the grade; ``>``: a higher one; ``-``: not in the qrels; ``.``: in the qrels
    with a grade below 0.

    Formula: the grades of the first k, a character each
    Misleads where: for reading, no quality
    Good for: looking at single queries
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


def _pooled_above(rankings: Rankings, rel: int) -> Floats:
    """For each retrieved relevant document: documents above it that the qrels name."""
    return (nth_of_query(rankings.hit_query)[rankings.hit_grade >= rel] - 1).astype(np.float64)
