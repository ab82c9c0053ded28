"""Retrieval over spans: what was retrieved and what is gold, as characters of documents, which stay
valid when documents are chunked again. *Span* metrics count passages and gold spans that match,
*Char* metrics characters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.base.errors import UsageError
from ragassay.base.printable import either, share
from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.chunks.chunk_overlap import relevant_gold
from ragassay.metrics.core.chunk_matching import credited
from ragassay.metrics.core.metric import Measured, Window, cutoff, harmonic, measure, missing, param
from ragassay.texts.document_names import DocumentNames, same_document

Overlap = Literal["containment", "iou"]
_ROUNDING = 1e-9


class Span(NamedTuple):
    """Characters ``[start, end)`` of a document."""

    document: str
    start: int
    end: int


class Spans(NamedTuple):
    """A sample's retrieved spans in rank order, and its gold spans."""

    retrieved: tuple[Span, ...]
    gold: tuple[Span, ...]


def overlaps(
    retrieved: Sequence[Span], gold: Sequence[Span], by: Overlap = "containment"
) -> NDArray[np.float64]:
    """How far each retrieved span covers each gold span."""
    r_documents, r_starts, r_ends = _columns(retrieved)
    g_documents, g_starts, g_ends = _columns(gold)
    common = np.minimum.outer(r_ends, g_ends) - np.maximum.outer(r_starts, g_starts)
    common = np.where(np.equal.outer(r_documents, g_documents), np.maximum(common, 0), 0)
    sizes = g_ends - g_starts
    if by == "iou":
        sizes = np.add.outer(r_ends - r_starts, sizes) - common
    share: NDArray[np.float64] = common / sizes
    return share


def _columns(
    spans: Sequence[Span],
) -> tuple[NDArray[np.str_], NDArray[np.int64], NDArray[np.int64]]:
    documents, starts, ends = zip(*spans, strict=True) if spans else ((), (), ())
    return np.array(documents, np.str_), np.array(starts, np.int64), np.array(ends, np.int64)


def covered(spans: Iterable[Span]) -> int:
    """Number of characters that at least one of the spans covers."""
    total, document, reached = 0, "", 0
    for span in sorted(spans):
        if span.document != document:
            document, reached = span.document, 0
        total += max(0, span.end - max(span.start, reached))
        reached = max(reached, span.end)
    return total


def _spans(sample: Sample, rel: int) -> Spans | Unscored:
    gold = missing(sample, ("passages", "gold")) or relevant_gold(sample, rel)
    if isinstance(gold, Unscored):
        return gold
    spans = _complete_spans(gold)
    if not spans:
        return Unscored(Reason.NOT_APPLICABLE, "no gold passage has document, start and end")
    if len(spans) < len(gold):
        return Unscored(
            Reason.MISSING_INPUT,
            f"{len(gold) - len(spans)} of {len(gold)} gold passages lack document, start or end",
        )
    if any(span.start == span.end for span in spans):
        return Unscored(Reason.UNDEFINED, "a gold span is empty: it ends where it starts")
    retrieved = _complete_spans(sample.passages or ())
    n_without = len(sample.passages or ()) - len(retrieved)
    if n_without:
        return Unscored(
            Reason.MISSING_INPUT,
            f"{share(n_without, len(sample.passages or ()), 'passage')} "
            f"{either(n_without, 'lacks', 'lack')} document, start or end",
        )
    named = _named_alike(retrieved, spans)
    return named if isinstance(named, Unscored) else Spans(named, tuple(dict.fromkeys(spans)))


def _named_alike(
    retrieved: tuple[Span, ...], gold: tuple[Span, ...]
) -> tuple[Span, ...] | Unscored:
    """The retrieved spans with the names that the gold has for their documents."""
    names = DocumentNames({span.document: span.document for span in gold})
    named: dict[str, str] = {}
    for document in dict.fromkeys(span.document for span in retrieved):
        found = names.find(document)
        others = [text for text, of_gold in named.items() if of_gold in found]
        if len(found) > 1:
            return _ambiguous(document, found)
        if found and not all(same_document(document, other) for other in others):
            return _ambiguous(found[0], (*others, document))
        named[document] = found[0] if found else document
    return tuple(span._replace(document=named[span.document]) for span in retrieved)


def _ambiguous(name: str, documents: Sequence[str]) -> Unscored:
    return Unscored(Reason.UNDEFINED, f"the document {name!r} may be any of {', '.join(documents)}")


def _complete_spans(chunks: Sequence[Passage | GoldPassage]) -> tuple[Span, ...]:
    return tuple(
        Span(chunk.document, chunk.start, chunk.end)
        for chunk in chunks
        if chunk.document is not None and chunk.start is not None and chunk.end is not None
    )


def _all_spans(window: Window, rel: int) -> list[Spans | Unscored]:
    return [_spans(sample, rel) for sample in window.samples]


@dataclass(frozen=True)
class _SpanMetric(Measured):
    """Source: datapizza-ai, docs/metrics.md, 'Retrieval Ground Truth' (which defines no metric)"""

    rel: int = param(1, "smallest grade that is relevant", minimum=1)

    family = "chunks"
    needs = ("passages", "gold")

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where a passage or the gold has no span."""
        spans = _spans(sample, self.rel)
        return spans if isinstance(spans, Unscored) else None

    def score_window(self, window: Window) -> Sequence[Outcome]:
        spans_of = window.once(_all_spans, self.rel)
        return [spans if isinstance(spans, Unscored) else self.outcome(spans) for spans in spans_of]

    def outcome(self, spans: Spans) -> Outcome:
        """The score for one sample's spans."""
        outcome: Outcome = self.measured(spans)
        return outcome


Matches = NDArray[np.bool_]
"""Which of the first k passages match which gold spans, shape ``(n_retrieved, n_gold)``."""


def _precision(match: Matches, k: int) -> float:
    """Passages that are hits, each for another gold span, over k."""
    return int(credited(match).sum()) / k


def _recall(match: Matches) -> float:
    """Share of the gold spans that some passage matches."""
    return int(match.any(axis=0).sum()) / int(match.shape[1])


@dataclass(frozen=True, kw_only=True)
class _Matching(_SpanMetric):
    k: int = cutoff(..., "how many ranks count")
    by: Overlap = param("containment", "share of the gold span, or intersection over union")
    threshold: float = param(0.5, "smallest share that is a match", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.threshold <= 1:
            raise UsageError(
                f"{self.name}: the threshold must be above 0 and at most 1, not {self.threshold:g}."
            )

    def outcome(self, spans: Spans) -> Score:
        """The value for the first k passages, with the ranks of the hits as parts."""
        top = spans.retrieved[: self.k]
        match = overlaps(top, spans.gold, self.by) >= self.threshold - _ROUNDING
        parts = {
            "hit_ranks": (np.flatnonzero(credited(match)) + 1).tolist(),
            "found": np.flatnonzero(match.any(axis=0)).tolist(),
            "n_gold": len(spans.gold),
        }
        return Score(self.measured(match), parts)


@measure("SpanP", base=_Matching)
def span_precision(match: Matches, k: int) -> float:
    """Share of the first k passages that match a gold span, each another one.

    Formula: passages among the first k that match a gold span, each another one / k
    Misleads where: with fewer gold spans than k, it cannot reach 1
    """
    return _precision(match, k)


@measure("SpanR", base=_Matching)
def span_recall(match: Matches) -> float:
    """Share of the gold spans that some passage among the first k matches.

    One passage may hold several of them.

    Formula: gold spans that a passage among the first k matches / gold spans
    Misleads where: a system that retrieves whole documents scores 1
    """
    return _recall(match)


@measure("SpanF1", base=_Matching)
def span_f1(match: Matches, k: int) -> float:
    """Harmonic mean of span precision and span recall.

    Formula: 2PR / (P + R) of SpanP@k and SpanR@k
    Misleads where: with fewer gold spans than k, it cannot reach 1
    """
    return harmonic(_precision(match, k), _recall(match))


@dataclass(frozen=True, kw_only=True)
class _Whole(_Matching):
    threshold: float = param(1.0, "smallest share that is a match", minimum=0)


@measure("SpanHit", base=_Whole)
def span_hit(match: Matches) -> float:
    """Whether one of the first k passages holds a whole gold span.

    Whole unless a threshold is set.

    Formula: 1 if a passage among the first k holds a whole gold span, else 0
    Misleads where: one of several needed spans is enough
    """
    return 1.0 if match.any() else 0.0


@dataclass(frozen=True)
class _Characters(_SpanMetric):
    k: int | None = cutoff()

    def outcome(self, spans: Spans) -> Score:
        """Characters of the first k passages against those of the gold spans."""
        top = spans.retrieved[: self.k]
        retrieved, gold = covered(top), covered(spans.gold)
        common = retrieved + gold - covered([*top, *spans.gold])
        parts = {"common": common, "retrieved": retrieved, "gold": gold}
        return Score(self.measured(common, retrieved, gold), parts)


@measure("CharP", base=_Characters)
def character_precision(common: int, retrieved: int, gold: int) -> float:
    """Share of the retrieved characters that lie in gold spans.

    0 when nothing was retrieved.

    Formula: retrieved characters that are gold / retrieved characters
    Misleads where: falls with the size of chunks, by design; compare systems with similar chunks,
        or take CharR
    """
    return common / retrieved if retrieved else 0.0


@measure("CharR", base=_Characters)
def character_recall(common: int, retrieved: int, gold: int) -> float:
    """Share of the gold spans' characters that were retrieved.

    Formula: gold characters that were retrieved / gold characters
    Misleads where: a system that retrieves whole documents scores 1
    """
    return common / gold


@measure("CharF1", base=_Characters)
def character_f1(common: int, retrieved: int, gold: int) -> float:
    """Harmonic mean of precision and recall over characters.

    Formula: 2PR / (P + R) of CharP and CharR
    Misleads where: large chunks lower it, although nothing is missed
    """
    return 2 * common / (retrieved + gold)


@measure("CharIoU", base=_Characters)
def character_iou(common: int, retrieved: int, gold: int) -> float:
    """Intersection over union of retrieved and gold characters.

    Formula: characters retrieved and gold / characters retrieved or gold
    Misleads where: large chunks lower it, although nothing is missed
    """
    return common / (retrieved + gold - common)


@measure("CharNDCG", base=_SpanMetric)
def character_ndcg(spans: Spans, k: int | None = cutoff()) -> Score:
    """nDCG whose gains are the gold characters that each passage is the first to hold.

    The ideal ranking has as many passages, of the same sizes, and holds as much gold as fits from
    the first one on.

    Formula: Σ new gold characters at rank i / log2(i + 1), over that of the best order of passages
        of these sizes
    Misleads where: rewards gold early, and says little about what is missing below
    """
    top = spans.retrieved[:k]
    gold = covered(spans.gold)
    gains, total = [], 0
    for rank in range(1, len(top) + 1):
        seen = top[:rank]
        common = covered(seen) + gold - covered([*seen, *spans.gold])
        gains.append(common - total)
        total = common
    ideal, left = [], gold
    for span in sorted(top, key=lambda value: value.start - value.end):
        ideal.append(min(left, span.end - span.start))
        left -= ideal[-1]
    best = _discounted(ideal)
    return Score(_discounted(gains) / best if best else 0.0, {"gains": gains, "gold": gold})


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


@measure("EvidenceDensity", base=_SpanMetric)
def evidence_density(spans: Spans, k: int | None = cutoff()) -> Outcome:
    """Share of gold characters in those passages that hold some.

    Formula: gold characters / characters of the passages that hold some
    Misleads where: says nothing about passages without evidence, nor about what was missed
    """
    top = spans.retrieved[:k]
    shares = overlaps(top, spans.gold)
    holding = [pair for pair, row in zip(top, shares, strict=True) if row.any()]
    size, gold = covered(holding), covered(spans.gold)
    common = size + gold - covered([*holding, *spans.gold])
    if not common:
        return Unscored(Reason.NOTHING_RETRIEVED, "no passage holds gold characters")
    return Score(common / size, {"characters": size, "passages": len(holding)})
