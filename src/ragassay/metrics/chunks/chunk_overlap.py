"""Retrieval over chunks, corrected: every gold chunk makes one hit, and perfect retrieval scores 1.

Vectors are the record's (``given``: ``passage_embeddings`` and ``gold_embeddings``), else the run's
embedder's; a record must bring both or neither.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.base.errors import UsageError
from ragassay.base.printable import either, share
from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.chunk_matching import (
    credited,
    likeness,
    same_chunks,
    vectors as matrix_of,
)
from ragassay.metrics.core.metric import Measured, Window, cutoff, measure, missing, param
from ragassay.models.embedders.embedder import Embedded, is_blank
from ragassay.models.weights.weight_files import Unavailable

Relevance = Literal["exact", "cosine"]
_THRESHOLD: Final = 0.8
_GIVEN: Final = ("passage_embeddings", "gold_embeddings")
_SPANS_HINT = "; gold with spans is for the Span and Char metrics"


class SampleVectors(NamedTuple):
    """Vectors of a sample's retrieved chunks and of its relevant gold, one a row; a blank chunk is
    a row of zeros. ``by`` is the embedder's label, empty where none was needed; ``given``, whether
    the record brought them."""

    passages: NDArray[np.floating]
    gold: NDArray[np.floating]
    by: str = ""
    given: bool = False

    @property
    def explanation(self) -> str:
        """Where the vectors come from, in a few words."""
        if self.given:
            return "cosines of the vectors in the record"
        return f"cosines of vectors by {self.by}" if self.by else "nothing was retrieved"

    @property
    def parts(self) -> dict[str, str]:
        """The embedder's label as a part of a score; empty where none was needed."""
        return {"embedder": self.by} if self.by else {}


def lacks_vectors(sample: Sample, rel: int) -> Unscored | None:
    """`Unscored` where the record brings neither vectors nor the texts to make them from; of gold
    those of grade ``rel`` or more."""
    keys = [key for key in _GIVEN if sample.given.get(key) is not None]
    if len(keys) == len(_GIVEN):
        return None
    if keys:
        (absent,) = set(_GIVEN) - set(keys)
        return Unscored(
            Reason.MISSING_INPUT,
            f"the record brings {keys[0]!r} without {absent!r}: vectors of two models do not "
            "compare, so give both, or neither",
        )
    if not sample.passages:
        return None  # nothing was retrieved: no vector is needed to say so
    gold = [g for g in sample.gold or () if g.grade >= rel]
    if n := sum(g.text is None or is_blank(g.text) for g in gold):
        which, hint = share(n, len(gold), "gold passage"), _SPANS_HINT
    elif n := sum(p.text is None for p in sample.passages):
        which, hint = share(n, len(sample.passages), "passage"), ""
    else:
        return None
    detail = f"{which} {either(n, 'has', 'have')} no text to embed{hint}"
    return Unscored(Reason.MISSING_INPUT, detail)


def _embedded(window: Window, rel: int) -> tuple[Mapping[str, Embedded], str] | Unscored:
    """The vectors of the distinct texts of a window's chunks that come without vectors and lack
    nothing, and the embedder's label."""
    texts = [
        text or ""
        for sample in window.samples
        if sample.passages and not any(sample.given.get(key) is not None for key in _GIVEN)
        for gold in [relevant_gold(sample, rel)]
        if not isinstance(gold, Unscored) and lacks_vectors(sample, rel) is None
        for text in (*(g.text for g in gold), *(p.text for p in sample.passages))
    ]
    if not texts:
        return {}, ""
    try:
        return window.models.embedder.embed(texts), window.models.embedder.label
    except Unavailable as error:
        return Unscored(error.reason, str(error))


def vectors_of(window: Window, sample: Sample, rel: int) -> SampleVectors | Unscored:
    """The vectors of a sample of the window."""
    lacking = lacks_vectors(sample, rel)
    if lacking is not None:
        return lacking
    if sample.given.get(_GIVEN[0]) is not None:
        return _given(sample, rel)
    gold = [g.text or "" for g in sample.gold or () if g.grade >= rel]
    if not sample.passages:
        return SampleVectors(np.empty((0, 0)), np.zeros((len(gold), 0)))
    found = window.once(_embedded, rel)
    if isinstance(found, Unscored):
        return found
    right = _rows(gold, found[0])
    if isinstance(right, Unscored):
        return right
    left = _rows([p.text or "" for p in sample.passages], found[0], width=right.shape[1])
    return left if isinstance(left, Unscored) else SampleVectors(left, right, found[1])


def _rows(
    texts: Sequence[str], vectors: Mapping[str, Embedded], width: int = 0
) -> NDArray[np.float32] | Unscored:
    rows = []
    for text in texts:
        vector = vectors.get(text)
        if isinstance(vector, Unscored):
            return vector
        rows.append(np.zeros(width, np.float32) if vector is None else vector)
    return np.stack(rows)


def _given(sample: Sample, rel: int) -> SampleVectors | Unscored:
    matrices = []
    for key, chunks in zip(_GIVEN, (sample.passages, sample.gold), strict=True):
        rows, n = sample.given[key], len(chunks or ())
        if not isinstance(rows, list | tuple | np.ndarray) or len(rows) != n:
            return Unscored(Reason.MISSING_INPUT, f"'{key}' does not hold {n} vectors")
        try:
            matrices.append(matrix_of(rows) if n else np.empty((0, 0)))
        except ValueError as error:
            return Unscored(Reason.UNDEFINED, f"{key}: {error}")
    relevant = [at for at, g in enumerate(sample.gold or ()) if g.grade >= rel]
    return SampleVectors(matrices[0], matrices[1][relevant], given=True)


def log_rank_scores(ranks: ArrayLike, depth: int, gamma: float = 1.0) -> NDArray[np.float64]:
    """Worth of each rank in a list of ``depth``: ``1 - ln(1 + gamma (rank - 1)) / ln(1 + gamma
    (depth - 1))``; with gamma 0 the limit, a straight line; with depth 1 it is 1."""
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
    """``alpha`` times recall plus ``1 - alpha`` times rank quality, 0 to 1: the worth of the hits'
    ranks (`log_rank_scores`) over that of the best ranks that ``n_gold`` hits could have."""
    ranks = np.flatnonzero(np.asarray(hits, dtype=np.bool_)[:depth]) + 1
    best = np.arange(1, min(n_gold, depth) + 1)
    worth, ideal = (log_rank_scores(side, depth, gamma).sum() for side in (ranks, best))
    return float(alpha * len(ranks) / n_gold + (1 - alpha) * worth / ideal)


class Hits(NamedTuple):
    """Which of a sample's retrieved chunks are hits, in rank order; where they were compared by
    cosine, the vectors and the highest cosine of each chunk with any gold chunk."""

    flags: NDArray[np.bool_]
    n_gold: int
    vectors: SampleVectors | None = None
    best: Sequence[float] = ()

    def within(self, k: int) -> int:
        """How many of the first ``k`` chunks are hits."""
        return int(self.flags[:k].sum())


def chunk_hits(window: Window, by: Relevance, threshold: float, rel: int) -> list[Hits | Unscored]:
    """The hits of each sample; for `Window.once`."""

    def hits(sample: Sample) -> Hits | Unscored:
        gold = missing(sample, ("passages", "gold")) or relevant_gold(sample, rel)
        if isinstance(gold, Unscored):
            return gold
        passages = sample.passages or ()
        labels = same_chunks([*passages, *gold])
        labels, gold_labels = labels[: len(passages)], labels[len(passages) :]
        gold_rows = [at for at, label in enumerate(gold_labels) if label not in gold_labels[:at]]
        if by == "exact":
            lacking = comparable(passages, gold)
            if lacking is not None:
                return lacking
            left, right = np.array(labels, dtype=int), np.array(gold_labels)[gold_rows]
            return Hits(credited(left[:, None] == right), len(right))
        pair = vectors_of(window, sample, rel)
        if isinstance(pair, Unscored):
            return pair
        if not passages:
            return Hits(np.zeros(0, dtype=np.bool_), len(gold_rows), pair)
        try:
            cosines, near = likeness(pair.passages, pair.gold[gold_rows], threshold)
        except ValueError as error:
            return Unscored(Reason.UNDEFINED, str(error))
        best = [round(float(cosine), 6) for cosine in cosines.max(axis=1)]
        return Hits(credited(near), len(gold_rows), pair, best)

    return [hits(sample) for sample in window.samples]


def relevant_gold(sample: Sample, rel: int = 1) -> tuple[GoldPassage, ...] | Unscored:
    """The gold chunks of grade ``rel`` or more; `Unscored` where there are none."""
    gold = tuple(g for g in sample.gold or () if g.grade >= rel)
    return gold or Unscored(Reason.NOT_APPLICABLE, "the query has no relevant gold passage")


def comparable(passages: Sequence[Passage], gold: Sequence[GoldPassage]) -> Unscored | None:
    """`Unscored` where some gold passages share neither ids nor texts with the retrieved ones, so
    that a miss would prove nothing; else ``None``."""
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
    """`Unscored` where a sample's passages cannot be compared with its gold; else ``None``."""
    gold = relevant_gold(sample, rel)
    if isinstance(gold, Unscored):
        return gold
    return lacks_vectors(sample, rel) if by == "cosine" else comparable(sample.passages or (), gold)


@dataclass(frozen=True)
class _ChunkMetric(Measured):
    """Source: datapizza-ai, docs/metrics.md, with one-to-one hits"""

    k: int = cutoff(..., "how many ranks count")
    by: Relevance = param("exact", "relevance: the same id or text, or a cosine")
    threshold: float = param(_THRESHOLD, "smallest cosine that is relevant", minimum=-1, maximum=1)
    rel: int = param(1, "smallest grade that is relevant", minimum=1)

    family = "chunks"
    needs = ("passages", "gold")
    uses = ("given",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by == "exact" and self.threshold != _THRESHOLD:
            raise UsageError(f"{self.name}: threshold needs by=cosine.")

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where no gold is relevant, or where nothing can be compared: ids and texts,
        with ``by=cosine`` vectors."""
        return super().lacks(sample) or incomparable(sample, self.rel, self.by)

    @cached_property
    def embeds(self) -> bool:  # type: ignore[override]  # read only
        return self.by == "cosine"

    def score_window(self, window: Window) -> Sequence[Outcome]:
        all_hits = window.once(chunk_hits, self.by, self.threshold, self.rel)
        return [hits if isinstance(hits, Unscored) else self._score(hits) for hits in all_hits]

    def _score(self, hits: Hits) -> Score:
        ranks = (np.flatnonzero(hits.flags[: self.k]) + 1).tolist()
        parts: dict[str, Any] = {"hit_ranks": ranks, "n_gold": hits.n_gold}
        if hits.vectors is None:
            return Score(self.measured(hits), parts)
        by, best = hits.vectors, list(hits.best[: self.k])
        explanation = by.explanation
        if best:
            parts["best_cosines"] = best
            explanation += f"; threshold {self.threshold:g}, best cosine {max(best):.3f}"
        return Score(self.measured(hits), parts | by.parts, explanation, given=by.given)


class _Hybrid(_ChunkMetric):
    gamma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.gamma * self.k):
            raise UsageError(f"{self.name}: gamma {self.gamma:g} is too large.")


@measure("ChunkP", base=_ChunkMetric)
def chunk_precision(hits: Hits, k: int) -> float:
    """Share of the first k chunks that are hits, one for each gold chunk.

    Formula: hits among the first k / k, each for another gold chunk
    Misleads where: with fewer gold chunks than k, it cannot reach 1
    """
    return hits.within(k) / k


@measure("ChunkR", base=_ChunkMetric)
def chunk_recall(hits: Hits, k: int) -> float:
    """Share of the gold chunks found among the first k.

    Formula: gold chunks found among the first k / gold chunks
    Misleads where: a gold chunk with another cut is missed; Span and Char metrics do not
        depend on the cut
    """
    return hits.within(k) / hits.n_gold


@measure("ChunkF1", base=_ChunkMetric)
def chunk_f1(hits: Hits, k: int) -> float:
    """Harmonic mean of precision and recall over chunks.

    Formula: 2PR / (P + R) of ChunkP@k and ChunkR@k
    Misleads where: with fewer gold chunks than k, it cannot reach 1
    """
    return 2 * hits.within(k) / (k + hits.n_gold)


@measure("hybrid", base=_Hybrid)
def hybrid_log_rank(
    hits: Hits,
    k: int,
    alpha: float = param(0.5, "weight of recall against rank quality", minimum=0, maximum=1),
    gamma: float = param(1.0, "steepness of the worth of ranks (0: a straight line)", minimum=0),
) -> float:
    """Recall and log-rank quality over chunks, perfect = 1.

    The cut-off is its depth; see `hybrid_score`.

    Formula: alpha × recall@k + (1 - alpha) × Σ worth of the hits' ranks / that of the best ranks
    Misleads where: one number for two things; check ChunkR@k and RR to see which moved
    Source: datapizza-ai, docs/metrics.md, normalised, with a depth and one-to-one hits
    """
    return hybrid_score(hits.flags, hits.n_gold, k, alpha=alpha, gamma=gamma)
