"""Retrieval over chunks, corrected: every gold chunk makes one hit, and perfect retrieval scores 1.

A retrieved chunk is relevant when it is a gold chunk (``by=exact``: the same id, or the same text
up to whitespace) or close to one (``by=cosine``, see `chunk_vectors`). Hits are one to one: many
copies of a chunk do not inflate the precision, and one generic chunk does not recall every gold
chunk. Gold chunks named twice count once. A copy of a chunk that stands higher in the ranking keeps
its rank and is a miss, or is removed first (``duplicates=drop``).

The published forms are in `ragassay.metrics.chunks.chunks_published`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.base.errors import UsageError
from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.chunks.chunk_vectors import (
    ChunkVectors,
    SampleVectors,
    lacks_vectors,
    texts_of,
)
from ragassay.metrics.core.chunk_matching import credited, likeness, same_chunks
from ragassay.metrics.core.metric import Metric, missing, register
from ragassay.metrics.core.metric_parameters import cutoff, param
from ragassay.metrics.core.window import Window

Relevance = Literal["exact", "cosine"]
Duplicates = Literal["miss", "drop"]
_THRESHOLD: Final = 0.8


def log_rank_scores(ranks: ArrayLike, depth: int, gamma: float = 1.0) -> NDArray[np.float64]:
    """Worth of each rank in a list of ``depth``: 1 for the first, 0 for the last.

    The formula is ``1 - ln(1 + gamma (rank - 1)) / ln(1 + gamma (depth - 1))``. With gamma 0 it is
    a straight line, which is the limit; with depth 1 it is 1.

    Args:
        ranks: ranks from 1 to ``depth``, any shape.
        depth: length of the list, at least 1.
        gamma: steepness, at least 0.

    Returns:
        Worths from 0 to 1, in the shape of ``ranks``.
    """
    steps = np.asarray(ranks, dtype=np.float64) - 1
    if depth == 1:
        return np.ones_like(steps)
    if gamma == 0:
        return 1 - steps / (depth - 1)
    # The last rank's two logarithms, of numpy and of C, may differ in the last digit.
    return np.maximum(0.0, 1 - np.log1p(gamma * steps) / math.log1p(gamma * (depth - 1)))


def hybrid_score(
    hits: ArrayLike, n_gold: int, depth: int, *, alpha: float = 0.5, gamma: float = 1.0
) -> float:
    """``alpha`` times recall plus ``1 - alpha`` times rank quality, 0 to 1.

    Rank quality is the worth of the hits' ranks (`log_rank_scores`) over the worth of the best
    ranks that ``n_gold`` hits could have. All gold on top gives 1; what stands below ``depth``
    changes nothing.

    Args:
        hits: one flag a retrieved chunk, in rank order.
        n_gold: number of gold chunks, at least 1.
        depth: how many ranks count, at least 1, whatever was retrieved.
        alpha: weight of recall.
        gamma: steepness, at least 0.
    """
    ranks = np.flatnonzero(np.asarray(hits, dtype=np.bool_)[:depth]) + 1
    best = np.arange(1, min(n_gold, depth) + 1)
    worth, ideal = (log_rank_scores(side, depth, gamma).sum() for side in (ranks, best))
    return float(alpha * len(ranks) / n_gold + (1 - alpha) * worth / ideal)


class Hits(NamedTuple):
    """Which of a sample's retrieved chunks are hits.

    Attributes:
        flags: one for each retrieved chunk, in rank order.
        n_gold: how many gold chunks there are.
        vectors: the vectors, where chunks were compared by cosine.
        best: the highest cosine of each retrieved chunk with any gold chunk, where compared so.
    """

    flags: NDArray[np.bool_]
    n_gold: int
    vectors: SampleVectors | None = None
    best: Sequence[float] = ()


def chunk_hits(
    window: Window, by: Relevance, threshold: float, rel: int, duplicates: Duplicates
) -> list[Hits | Unscored]:
    """The hits of each sample; for `Window.once`.

    Args:
        window: the samples.
        by: ``exact`` compares ids and texts, ``cosine`` compares vectors.
        threshold: smallest cosine that is relevant, -1 to 1; unused with ``exact``.
        rel: smallest grade of a gold chunk that is relevant.
        duplicates: ``miss`` keeps copies of a chunk as misses, ``drop`` removes them first.

    Returns:
        One entry a sample; `Unscored` where it lacks what is compared.
    """
    vectors = window.once(ChunkVectors) if by == "cosine" else None

    def hits(at: int, sample: Sample) -> Hits | Unscored:
        gold = missing(sample, ("passages", "gold")) or relevant_gold(sample, rel)
        if isinstance(gold, Unscored):
            return gold
        passages = sample.passages or ()
        labels = same_chunks([*passages, *gold])
        labels, gold_labels = labels[: len(passages)], labels[len(passages) :]
        rows = _first_ones(labels) if duplicates == "drop" else list(range(len(labels)))
        gold_rows = _first_ones(gold_labels)
        if vectors is None:
            lacking = comparable(passages, gold)
            if lacking is not None:
                return lacking
            left, right = np.array(labels, dtype=int)[rows], np.array(gold_labels)[gold_rows]
            return Hits(credited(left[:, None] == right), len(right))
        pair = lacks_vectors(sample) or vectors.of(at, rel)
        if isinstance(pair, Unscored):
            return pair
        if not passages:
            return Hits(np.zeros(0, dtype=np.bool_), len(gold_rows), pair)
        try:
            cosines, near = likeness(pair.passages[rows], pair.gold[gold_rows], threshold)
        except ValueError as error:
            return Unscored(Reason.UNDEFINED, str(error))
        best = [round(float(cosine), 6) for cosine in cosines.max(axis=1)]
        return Hits(credited(near), len(gold_rows), pair, best)

    return [hits(at, sample) for at, sample in enumerate(window.samples)]


def relevant_gold(sample: Sample, rel: int = 1) -> tuple[GoldPassage, ...] | Unscored:
    """The gold chunks of grade ``rel`` or more; `Unscored` where there are none.

    Args:
        sample: the sample; missing gold counts as none.
        rel: smallest grade that is relevant.
    """
    gold = tuple(g for g in sample.gold or () if g.grade >= rel)
    return gold or Unscored(Reason.NOT_APPLICABLE, "the query has no relevant gold passage")


def comparable(passages: Sequence[Passage], gold: Sequence[GoldPassage]) -> Unscored | None:
    """`Unscored` where some gold passages share neither ids nor texts with the retrieved ones, so
    that a miss would prove nothing; else ``None``.

    Args:
        passages: the retrieved passages.
        gold: the relevant gold passages.
    """
    kinds = [
        kind
        for kind in ("id", "text")
        if all(getattr(passage, kind) is not None for passage in passages)
    ]
    n_unlike = sum(all(getattr(g, kind) is None for kind in kinds) for g in gold)
    if not passages or not n_unlike:
        return None
    return Unscored(
        Reason.MISSING_INPUT,
        f"{n_unlike} of {len(gold)} gold passages share neither id nor text with the retrieved "
        "ones; gold with spans is for the Span and Char metrics",
    )


def incomparable(sample: Sample, rel: int = 1, by: Relevance = "exact") -> Unscored | None:
    """`Unscored` where a sample's passages cannot be compared with its gold; else ``None``.

    Args:
        sample: with passages and gold.
        rel: smallest grade that is relevant.
        by: how chunks are compared.
    """
    gold = relevant_gold(sample, rel)
    if isinstance(gold, Unscored):
        return gold
    return lacks_vectors(sample) if by == "cosine" else comparable(sample.passages or (), gold)


def _first_ones(labels: Sequence[int]) -> list[int]:
    """The index at which each label occurs first."""
    return list({label: at for at, label in reversed(list(enumerate(labels)))}.values())[::-1]


@dataclass(frozen=True)
class _ChunkMetric(Metric):
    """Source: datapizza-ai, docs/metrics.md, with one-to-one hits"""

    k: int = cutoff(..., "how many ranks count")
    by: Relevance = param("exact", "relevance: the same id or text, or a cosine")
    threshold: float = param(_THRESHOLD, "smallest cosine that is relevant", minimum=-1, maximum=1)
    rel: int = param(1, "smallest grade that is relevant", minimum=1)
    duplicates: Duplicates = param("miss", "copies of a chunk: a miss at their rank, or dropped")

    family = "chunks"
    needs = ("passages", "gold")
    uses = ("given",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by == "exact" and self.threshold != _THRESHOLD:
            raise UsageError(f"{self.name}: threshold goes with by=cosine.")

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where no gold is relevant, or where nothing can be compared: ids and texts,
        with ``by=cosine`` vectors."""
        return super().lacks(sample) or incomparable(sample, self.rel, self.by)

    @property
    def embeds(self) -> bool:
        return self.by == "cosine"

    def texts_to_embed(self, sample: Sample) -> Iterable[str]:
        """Passages and gold; nothing where the record brings vectors."""
        return texts_of(sample) if self.embeds else ()

    def score_window(self, window: Window) -> Sequence[Outcome]:
        all_hits = window.once(chunk_hits, self.by, self.threshold, self.rel, self.duplicates)
        return [hits if isinstance(hits, Unscored) else self._score(hits) for hits in all_hits]

    def _score(self, hits: Hits) -> Score:
        ranks = (np.flatnonzero(hits.flags[: self.k]) + 1).tolist()
        parts: dict[str, Any] = {"hit_ranks": ranks, "n_gold": hits.n_gold}
        if hits.vectors is None:
            return Score(self.value(hits), parts)
        by, best = hits.vectors, list(hits.best[: self.k])
        explanation = by.explanation
        if best:
            parts["best_cosines"] = best
            explanation += f"; threshold {self.threshold:g}, best cosine {max(best):.3f}"
        return Score(self.value(hits), parts | by.parts, explanation, given=by.given)

    @abstractmethod
    def value(self, hits: Hits) -> float:
        """The value for one sample's hits."""


@register
class ChunkPrecision(_ChunkMetric):
    """Share of the first k chunks that are hits, one for each gold chunk.

    Formula: hits among the first k / k, each for another gold chunk
    Misleads where: with fewer gold chunks than k, it cannot reach 1
    Good for: how much of the context window is useful
    """

    name = "ChunkP"

    def value(self, hits: Hits) -> float:
        return int(hits.flags[: self.k].sum()) / self.k


@register
class ChunkRecall(_ChunkMetric):
    """Share of the gold chunks found among the first k.

    Formula: gold chunks found among the first k / gold chunks
    Misleads where: a gold chunk that is cut otherwise is missed; Span and Char metrics do not
        depend on the cut
    Good for: whether the answer could be in the context at all
    """

    name = "ChunkR"

    def value(self, hits: Hits) -> float:
        return int(hits.flags[: self.k].sum()) / hits.n_gold


@register
class ChunkF1(_ChunkMetric):
    """Harmonic mean of precision and recall over chunks.

    Formula: 2PR / (P + R) of ChunkP@k and ChunkR@k
    Misleads where: with fewer gold chunks than k, it cannot reach 1
    Good for: one number for a cut-off
    """

    name = "ChunkF1"

    def value(self, hits: Hits) -> float:
        return 2 * int(hits.flags[: self.k].sum()) / (self.k + hits.n_gold)


@register
class HybridLogRank(_ChunkMetric):
    """Recall and log-rank quality over chunks, perfect = 1.

    The cut-off is its depth; see `hybrid_score`.

    Formula: alpha × recall@k + (1 - alpha) × Σ worth of the hits' ranks / that of the best ranks
    Misleads where: one number of two things; look at ChunkR@k and RR to know which moved
    Good for: one number that rewards finding the gold chunks and ranking them high
    Source: datapizza-ai, docs/metrics.md, normalised, with a depth and one-to-one hits
    """

    alpha: float = param(0.5, "weight of recall against rank quality", minimum=0, maximum=1)
    gamma: float = param(1.0, "steepness of the worth of ranks (0: a straight line)", minimum=0)

    name = "hybrid"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.gamma * self.k):
            raise UsageError(f"{self.name}: gamma {self.gamma:g} is too large.")

    def value(self, hits: Hits) -> float:
        return hybrid_score(hits.flags, hits.n_gold, self.k, alpha=self.alpha, gamma=self.gamma)
