"""datapizza's published chunk metrics (`chunks_datapizza`) as metric objects, under their names.

A passage with the id of a gold passage counts as equal to it. A query without gold, where the
published function raises, is `Unscored`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.chunks import chunks_datapizza as published
from ragassay.metrics.chunks.chunk_overlap import (
    incomparable,
    relevant_gold,
    vectors_of,
)
from ragassay.metrics.core.chunk_matching import same_chunks
from ragassay.metrics.core.metric import (
    Metric,
    SampleMetric,
    Window,
    cutoff,
    define,
    param,
    register,
)


class _Published(Metric):
    """Source: datapizza-ai, docs/metrics.md, as published"""

    family = "chunks"
    needs = ("passages", "gold")

    def value(self, retrieved: Any, gold: Any) -> float:
        """The value of the published function of this name, with the metric's parameters."""
        value: float = getattr(published, self.name)(
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
