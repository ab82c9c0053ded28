"""Chunk metrics exactly as datapizza-ai publishes them: plain functions, and metrics by them.

Precision divides by k even where fewer chunks were retrieved; the similarity variants count every
chunk that is near some gold chunk; a perfect hybrid score lies below 1 for more than one gold
chunk. `ragassay.metrics.chunks.chunk_overlap` has the corrected family. Unlike the published code,
a meaningless request raises ``ArgumentError``, gamma 0 gives the limit, an error inside BLEU is not
turned into 0, and no value exceeds 1. For the metrics, a passage with the id of a gold passage is
equal to it, and a query without gold, where the function raises, is `Unscored`.

Source: datapizza-ai, ``docs/metrics.md`` and ``datapizza-ai-eval/metrics.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ragassay.base.errors import ArgumentError
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.word_overlap import MEASURES, rouge, sentence_bleu
from ragassay.metrics.chunks.chunk_overlap import incomparable, relevant_gold, vectors_of
from ragassay.metrics.core.chunk_matching import cosine_matrix, same_chunks
from ragassay.metrics.core.metric import (
    Metric,
    SampleMetric,
    Window,
    cutoff,
    define,
    harmonic,
    param,
    register,
)

Embeddings = Sequence[Sequence[float]] | Sequence[NDArray[np.floating]] | NDArray[np.floating]
"""One vector for each chunk."""

_FIGURES = ("precision", "recall", "fmeasure")
"""What datapizza calls the three figures of a ROUGE."""


def precision_at_k_exact(
    retrieved_chunks: Sequence[str], ground_truth_chunks: Sequence[str], k: int
) -> float:
    """Distinct gold chunks among the first ``k``, divided by ``k``: 0 to 1.

    Args:
        retrieved_chunks: texts in rank order; none give 0.
        ground_truth_chunks: gold texts; copies count once.
        k: how many ranks count, at least 1.

    Raises:
        ArgumentError: ``k`` is below 1, or there are chunks but no gold.
    """
    return _exact_hits(retrieved_chunks, ground_truth_chunks, k) / k


def precision_at_k_similarity(
    retrieved_embeddings: Embeddings,
    ground_truth_embeddings: Embeddings,
    k: int,
    similarity_threshold: float = 0.8,
) -> float:
    """Chunks among the first ``k`` with a cosine of at least the threshold to some gold, over k.

    Args:
        retrieved_embeddings: one vector a chunk, in rank order; none give 0.
        ground_truth_embeddings: one vector a gold chunk.
        k: how many ranks count, at least 1.
        similarity_threshold: smallest cosine that is a match, -1 to 1.

    Raises:
        ArgumentError: ``k`` is below 1, there are chunks but no gold, or the vectors do not fit.
    """
    near = _near_first(retrieved_embeddings, ground_truth_embeddings, k, similarity_threshold)
    return int(near.any(axis=1).sum()) / k


def recall_at_k_exact(
    retrieved_chunks: Sequence[str], ground_truth_chunks: Sequence[str], k: int
) -> float:
    """Share of the distinct gold chunks that are among the first ``k``.

    Args:
        retrieved_chunks, ground_truth_chunks, k: as in `precision_at_k_exact`, with its errors.
    """
    hits = _exact_hits(retrieved_chunks, ground_truth_chunks, k)
    return hits / len(set(ground_truth_chunks)) if hits else 0.0


def recall_at_k_similarity(
    retrieved_embeddings: Embeddings,
    ground_truth_embeddings: Embeddings,
    k: int,
    similarity_threshold: float = 0.8,
) -> float:
    """Share of the gold vectors that some vector among the first ``k`` is near; repeats count.

    Args:
        retrieved_embeddings, ground_truth_embeddings, k, similarity_threshold: as in
            `precision_at_k_similarity`, with its errors; no gold is always one.
    """
    _check_gold(ground_truth_embeddings)
    near = _near_first(retrieved_embeddings, ground_truth_embeddings, k, similarity_threshold)
    return int(near.any(axis=0).sum()) / len(ground_truth_embeddings)


def f1_at_k_exact(
    retrieved_chunks: Sequence[str], ground_truth_chunks: Sequence[str], k: int
) -> float:
    """Harmonic mean of `precision_at_k_exact` and `recall_at_k_exact`.

    Args:
        retrieved_chunks, ground_truth_chunks, k: as in `precision_at_k_exact`, with its errors.
    """
    return harmonic(
        precision_at_k_exact(retrieved_chunks, ground_truth_chunks, k),
        recall_at_k_exact(retrieved_chunks, ground_truth_chunks, k),
    )


def f1_at_k_similarity(
    retrieved_embeddings: Embeddings,
    ground_truth_embeddings: Embeddings,
    k: int,
    similarity_threshold: float = 0.8,
) -> float:
    """Harmonic mean of `precision_at_k_similarity` and `recall_at_k_similarity`.

    Args:
        retrieved_embeddings, ground_truth_embeddings, k, similarity_threshold: as in these two.
    """
    inputs = (retrieved_embeddings, ground_truth_embeddings, k, similarity_threshold)
    return harmonic(precision_at_k_similarity(*inputs), recall_at_k_similarity(*inputs))


def log_rank_score(rank: int, n: int, gamma: float = 1.0) -> float:
    """Worth of a rank in a list of ``n``: 1 for the first, 0 for the last, falling logarithmically.

    Args:
        rank: from 1 to ``n``, the length of the list; else an ``ArgumentError``.
        n: length of the list; in a list of one the worth is 1.
        gamma: steepness, at least 0, in ``1 - ln(1 + gamma (rank - 1)) / ln(1 + gamma (n - 1))``;
            with 0 a straight line, which is the limit.
    """
    if not 1 <= rank <= n:
        raise ArgumentError(f"rank must be between 1 and n = {n}, not {rank}")
    if not (gamma >= 0 and math.isfinite(gamma * n)):
        raise ArgumentError(f"gamma must be a finite number of at least 0, not {gamma}")
    if n == 1:
        return 1.0
    if gamma == 0:
        return 1 - (rank - 1) / (n - 1)
    return 1 - math.log1p(gamma * (rank - 1)) / math.log1p(gamma * (n - 1))


def hybrid_log_rank_score_exact(
    retrieved_chunks: Sequence[str],
    ground_truth_chunks: Sequence[str],
    gamma: float = 1.0,
    alpha: float = 0.5,
) -> float:
    """``alpha`` times recall plus ``1 - alpha`` times the mean worth of the gold chunks' ranks.

    A gold chunk's worth is the `log_rank_score` of its first occurrence among all the retrieved
    chunks, 0 when it is not there; the mean runs over the distinct gold chunks.

    Args:
        retrieved_chunks: texts in rank order.
        ground_truth_chunks: gold texts; copies count once.
        gamma: steepness of the worth of ranks, at least 0.
        alpha: weight of recall, 0 to 1.

    Raises:
        ArgumentError: there is no gold, or alpha or gamma is out of range.
    """
    _check_list(retrieved_chunks, ground_truth_chunks)
    _check_gold(ground_truth_chunks)
    first = {chunk: rank for rank, chunk in reversed(list(enumerate(retrieved_chunks, 1)))}
    gold = set(ground_truth_chunks)
    ranks = sorted(first[chunk] for chunk in gold if chunk in first)
    return _hybrid(ranks, len(gold), len(retrieved_chunks), gamma, alpha)


def hybrid_log_rank_score_similarity(
    retrieved_embeddings: Embeddings,
    ground_truth_embeddings: Embeddings,
    similarity_threshold: float = 0.8,
    gamma: float = 1.0,
    alpha: float = 0.5,
) -> float:
    """`hybrid_log_rank_score_exact` over vectors: the rank of a gold chunk is that of the first
    vector near it.

    Args:
        retrieved_embeddings, ground_truth_embeddings, similarity_threshold: as in
            `precision_at_k_similarity`; no gold is always an error.
        gamma, alpha: as in `hybrid_log_rank_score_exact`.
    """
    _check_gold(ground_truth_embeddings)
    n_gold, n = len(ground_truth_embeddings), len(retrieved_embeddings)
    if not n:
        return _hybrid([], n_gold, 0, gamma, alpha)
    near = _near(retrieved_embeddings, ground_truth_embeddings, similarity_threshold)
    ranks = (near.argmax(axis=0)[near.any(axis=0)] + 1).tolist()
    return _hybrid(ranks, n_gold, n, gamma, alpha)


def bleu_score(retrieved_chunk: str, ground_truth_chunks: Sequence[str]) -> float:
    """Sentence BLEU of a text against all references at once, 0 to 1.

    sacrebleu's defaults: ``case:mixed|eff:yes|tok:13a|smooth:exp``. An empty text gives 1 when all
    references are empty and 0 otherwise.

    Args:
        retrieved_chunk: the text to score.
        ground_truth_chunks: the references, a list of texts; without any the score is 0.
    """
    _check_list(ground_truth_chunks)
    if not ground_truth_chunks:
        return 0.0
    if not retrieved_chunk:
        return 0.0 if any(ground_truth_chunks) else 1.0
    return sentence_bleu(retrieved_chunk, ground_truth_chunks).value


def corpus_bleu_score(retrieved_chunks: Sequence[str], ground_truth_chunks: Sequence[str]) -> float:
    """Mean over the gold chunks of the best BLEU that any retrieved chunk reaches against it.

    Args:
        retrieved_chunks: texts to score; without any the score is 0.
        ground_truth_chunks: gold texts; an ``ArgumentError`` without any.
    """
    _check_list(retrieved_chunks, ground_truth_chunks)
    _check_gold(ground_truth_chunks)
    best = [
        max((bleu_score(chunk, [gold]) for chunk in retrieved_chunks), default=0.0)
        for gold in ground_truth_chunks
    ]
    return sum(best) / len(best)


@overload
def rouge_score(
    retrieved_chunk: str, ground_truth_chunk: str, *, nested: Literal[False] = False
) -> dict[str, float]: ...


@overload
def rouge_score(
    retrieved_chunk: str, ground_truth_chunk: str, *, nested: Literal[True]
) -> dict[str, dict[str, float]]: ...


def rouge_score(
    retrieved_chunk: str, ground_truth_chunk: str, *, nested: bool = False
) -> dict[str, float] | dict[str, dict[str, float]]:
    """F1 of ROUGE-1, ROUGE-2 and ROUGE-L with stemming, 0 to 1: keys ``rouge1``, ``rouge2``,
    ``rougeL``.

    Args:
        retrieved_chunk, ground_truth_chunk: the text to score, and the reference.
        nested: give ``precision``, ``recall`` and ``fmeasure`` under each key. That is what
            datapizza's own function returns; its documentation promises F1 scores.
    """
    values_of = rouge(retrieved_chunk, ground_truth_chunk)
    if nested:
        return {
            kind: dict(zip(_FIGURES, values, strict=True)) for kind, values in values_of.items()
        }
    return {kind: values.f for kind, values in values_of.items()}


def corpus_rouge_scores(
    retrieved_chunks: Sequence[str], ground_truth_chunks: Sequence[str]
) -> dict[str, dict[str, float]]:
    """For each ROUGE, precision, recall and F1 (``fmeasure``) averaged over the gold chunks.

    Each gold chunk is compared with the retrieved chunk whose recall is highest (the first of
    equals).

    Args:
        retrieved_chunks: texts to score; all values are 0 without any.
        ground_truth_chunks: gold texts; an ``ArgumentError`` without any.
    """
    _check_list(retrieved_chunks, ground_truth_chunks)
    totals: dict[str, dict[str, float]] = {kind: dict.fromkeys(_FIGURES, 0.0) for kind in MEASURES}
    if not retrieved_chunks:
        return totals
    _check_gold(ground_truth_chunks)
    for gold in ground_truth_chunks:
        candidates = [rouge(chunk, gold) for chunk in retrieved_chunks]
        for kind, total in totals.items():
            best = max((values[kind] for values in candidates), key=lambda value: value.r)
            for figure, value in zip(total, best, strict=True):
                total[figure] += value
    # Sums of values up to 1 are divided at the end, so that no mean is above 1.
    n = len(ground_truth_chunks)
    return {
        kind: {figure: value / n for figure, value in total.items()}
        for kind, total in totals.items()
    }


def _near(
    retrieved: Embeddings, gold: Embeddings, similarity_threshold: float
) -> NDArray[np.bool_]:
    try:
        near: NDArray[np.bool_] = cosine_matrix(retrieved, gold) >= similarity_threshold
    except ValueError as error:
        raise ArgumentError(str(error)) from error
    return near


def _near_first(
    retrieved: Embeddings, gold: Embeddings, k: int, similarity_threshold: float
) -> NDArray[np.bool_]:
    """Which of the first ``k`` vectors (rows) are near which gold vectors (columns)."""
    _check_k(k)
    if not len(retrieved):
        return np.zeros((0, len(gold)), dtype=np.bool_)
    _check_gold(gold)
    return _near(retrieved[:k], gold, similarity_threshold)


def _hybrid(ranks: Sequence[int], n_gold: int, n: int, gamma: float, alpha: float) -> float:
    if not 0 <= alpha <= 1:
        raise ArgumentError(f"alpha must be between 0 and 1, not {alpha}")
    recall = len(ranks) / n_gold
    rank_quality = sum(log_rank_score(rank, n, gamma) for rank in ranks) / n_gold
    return alpha * recall + (1 - alpha) * rank_quality


def _exact_hits(retrieved: Sequence[str], gold: Sequence[str], k: int) -> int:
    """Distinct gold chunks among the first ``k``; for the errors see `precision_at_k_exact`."""
    _check_list(retrieved, gold)
    _check_k(k)
    if retrieved:
        _check_gold(gold)
    return len(set(retrieved[:k]) & set(gold))


def _check_k(k: int) -> None:
    if k < 1:
        raise ArgumentError(f"k must be at least 1, not {k}")


def _check_list(*lists: Sequence[str]) -> None:
    """A text is a sequence of characters, each of which would pass for a chunk."""
    if any(isinstance(each, str) for each in lists):
        raise ArgumentError("chunks come as a list of texts, not as one text")


def _check_gold(gold: Sequence[Any] | NDArray[Any]) -> None:
    if not len(gold):
        raise ArgumentError("there is no ground truth to compare with: the list is empty")


class _Published(Metric):
    """Source: datapizza-ai, docs/metrics.md, as published"""

    family = "chunks"
    needs = ("passages", "gold")

    def value(self, retrieved: Any, gold: Any) -> float:
        """The value of the published function of this name, with the metric's parameters."""
        value: float = globals()[self.name](
            retrieved, gold, **{field.name: getattr(self, field.name) for field in fields(self)}
        )
        return value


class _Exact(_Published, SampleMetric):
    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where no gold is relevant, or ids and texts cannot be compared."""
        return super().lacks(sample) or incomparable(sample)

    def score_sample(self, sample: Sample) -> Outcome:
        """Compares chunks as strings; equal chunks have equal strings."""
        gold, passages = relevant_gold(sample), sample.passages or ()
        assert not isinstance(gold, Unscored)
        labels = list(map(str, same_chunks([*passages, *gold], collapse_whitespace=False)))
        return Score(self.value(labels[: len(passages)], labels[len(passages) :]))


@dataclass(frozen=True)
class _Similar(_Published):
    similarity_threshold: float = param(0.8, "smallest cosine that is relevant", minimum=-1)

    uses = ("given",)
    embeds = True

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where no gold is relevant, or neither vectors nor texts of passages and
        gold are there."""
        return super().lacks(sample) or incomparable(sample, by="cosine")

    def score_window(self, window: Window) -> Sequence[Outcome]:
        return [self._outcome(sample, window) for sample in window.samples]

    def _outcome(self, sample: Sample, window: Window) -> Outcome:
        gold = self.lacks(sample) or relevant_gold(sample)
        if isinstance(gold, Unscored):
            return gold
        pair = vectors_of(window, sample, rel=1)
        if isinstance(pair, Unscored):
            return pair
        try:
            value = self.value(pair.passages, pair.gold)
        except ValueError as error:
            return Unscored(Reason.UNDEFINED, str(error))
        return Score(value, pair.parts, pair.explanation, given=pair.given)


@dataclass(frozen=True)
class _Hybrid(_Published):
    """Formula: alpha × recall + (1 - alpha) × mean worth of the gold chunks' first ranks, 1 - log(1
        + gamma (r - 1)) / log(1 + gamma (n - 1))
    Misleads where: the worth of a rank depends on how many chunks were retrieved
    """

    gamma: float = param(1.0, "steepness of the worth of ranks (0: a straight line)", minimum=0)
    alpha: float = param(0.5, "weight of recall against rank quality", minimum=0, maximum=1)


@dataclass(frozen=True)
class _ExactAtK(_Exact):
    k: int = cutoff(..., "how many ranks count")


@dataclass(frozen=True, kw_only=True)
class _SimilarAtK(_Similar):
    k: int = cutoff(..., "how many ranks count")


_COPIES = "copies of a chunk count as often as they come"
_AT_K = {
    "precision": ("hits among the first k / k", _COPIES),
    "recall": (
        "gold chunks found among the first k / gold chunks",
        "a gold chunk with another cut is missed",
    ),
    "f1": ("2PR / (P + R) of precision and recall at k", _COPIES),
}
for _how, _compared, _base in (
    ("exact", "as strings", _ExactAtK),
    ("similarity", "by cosine", _SimilarAtK),
):
    for _figure, (_formula, _misleads) in _AT_K.items():
        _title = f"{_figure.capitalize()} at k of chunks compared {_compared}, as published."
        _sections = f"Formula: {_formula}, as published\nMisleads where: {_misleads}"
        define(f"{_figure}_at_k_{_how}", _base, f"{_title}\n\n{_sections}")


@register
class HybridLogRankExact(_Hybrid, _Exact):
    """Recall and log-rank quality of chunks compared as strings, as published (perfect < 1)."""

    name = "hybrid_log_rank_score_exact"


@register
class HybridLogRankSimilarity(_Hybrid, _Similar):
    """Recall and log-rank quality of chunks compared by cosine, as published (perfect < 1)."""

    name = "hybrid_log_rank_score_similarity"
