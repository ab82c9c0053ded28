"""Vectors of retrieved chunks and of gold chunks: the record's, else the run's embedder's.

The record's are in ``given`` under ``passage_embeddings`` and ``gold_embeddings``: one list of
numbers for each passage and for each gold passage, in the sample's order. A record must bring both
or neither: vectors of two models cannot be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.base.counts import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import Reason, Unscored
from ragassay.metrics.core.chunk_matching import vectors
from ragassay.metrics.core.window import Window
from ragassay.models.embedders.embedder import Embedded, is_blank
from ragassay.models.weights.weight_files import Unavailable

_GIVEN: Final = ("passage_embeddings", "gold_embeddings")
_SPANS_HINT = "; gold with spans is for the Span and Char metrics"


class SampleVectors(NamedTuple):
    """Vectors of a sample, one a row.

    Attributes:
        passages: of the retrieved chunks, in rank order. A blank one is a row of zeros, whose
            cosine with every other is 0.
        gold: of the gold chunks that are relevant.
        by: the embedder's label, empty where none was needed.
        given: whether the record brought them.
    """

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


def lacks_vectors(sample: Sample) -> Unscored | None:
    """`Unscored` where the record brings neither vectors nor the texts to make them from."""
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
    gold = [g for g in sample.gold or () if g.grade >= 1]
    if n := sum(g.text is None or is_blank(g.text) for g in gold):
        which, hint = share(n, len(gold), "gold passage"), _SPANS_HINT
    elif n := sum(p.text is None for p in sample.passages):
        which, hint = share(n, len(sample.passages), "passage"), ""
    else:
        return None
    detail = f"{which} {either(n, 'has', 'have')} no text to embed{hint}"
    return Unscored(Reason.MISSING_INPUT, detail)


class ChunkVectors:
    """The vectors of a window's chunks; for `Window.once`. Each distinct text is embedded once."""

    def __init__(self, window: Window) -> None:
        self._samples = window.samples
        self._vectors: Mapping[str, Embedded] = {}
        self._absent: Unscored | None = None
        self._by = ""
        texts = [text for sample in window.samples for text in texts_of(sample)]
        if not texts:
            return
        try:
            self._vectors = window.models.embedder.embed(texts)
            self._by = window.models.embedder.label
        except Unavailable as error:
            self._absent = Unscored(error.reason, str(error))

    def of(self, at: int, rel: int) -> SampleVectors | Unscored:
        """The vectors of a sample that lacks nothing (see `lacks_vectors`).

        Args:
            at: which sample of the window.
            rel: smallest grade of gold that is relevant.
        """
        sample = self._samples[at]
        if sample.given.get(_GIVEN[0]) is not None:
            return _given(sample, rel)
        passages = sample.passages or ()
        gold = [g.text or "" for g in sample.gold or () if g.grade >= rel]
        if not passages:
            return SampleVectors(np.empty((0, 0)), np.zeros((len(gold), 0)))
        if self._absent is not None:
            return self._absent
        right = self._rows(gold)
        if isinstance(right, Unscored):
            return right
        left = self._rows([p.text or "" for p in passages], width=right.shape[1])
        return left if isinstance(left, Unscored) else SampleVectors(left, right, self._by)

    def _rows(self, texts: Sequence[str], width: int = 0) -> NDArray[np.float32] | Unscored:
        rows = []
        for text in texts:
            vector = self._vectors.get(text)
            if isinstance(vector, Unscored):
                return vector
            rows.append(np.zeros(width, np.float32) if vector is None else vector)
        return np.stack(rows)


def texts_of(sample: Sample) -> Iterator[str]:
    """The texts of a sample that must be embedded; none where it brings vectors or lacks
    something."""
    if any(sample.given.get(key) is not None for key in _GIVEN):
        return
    gold = [g.text or "" for g in sample.gold or () if g.grade >= 1]
    if not sample.passages or not gold or lacks_vectors(sample) is not None:
        return
    yield from gold
    yield from (p.text or "" for p in sample.passages)


def _given(sample: Sample, rel: int) -> SampleVectors | Unscored:
    matrices = []
    for key, chunks in zip(_GIVEN, (sample.passages, sample.gold), strict=True):
        rows, n = sample.given[key], len(chunks or ())
        if not isinstance(rows, list | tuple | np.ndarray) or len(rows) != n:
            return Unscored(Reason.MISSING_INPUT, f"'{key}' does not hold {n} vectors")
        try:
            matrices.append(vectors(rows) if n else np.empty((0, 0)))
        except ValueError as error:
            return Unscored(Reason.UNDEFINED, f"{key}: {error}")
    relevant = [at for at, g in enumerate(sample.gold or ()) if g.grade >= rel]
    return SampleVectors(matrices[0], matrices[1][relevant], given=True)
