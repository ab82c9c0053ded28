"""BERTScore over a table of word vectors: its arithmetic in numbers that can be checked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


class WordVectors:
    """An encoder in which each word has one vector, whatever stands around it. It needs no torch.

    Attributes:
        longest: ``None``: texts of any length are read.

    Args:
        table: a vector for each word, all of one length, none of them zero. Words are split at
            white space.
    """

    longest: int | None = None

    def __init__(self, table: Mapping[str, Sequence[float]]) -> None:
        self._table = {word: np.array(row) / np.linalg.norm(row) for word, row in table.items()}

    def match(self, candidate: str, reference: str) -> tuple[float, float, float]:
        """Precision, recall and F of a pair, from -1 to 1: each word counts with its best cosine.

        Raises:
            KeyError: the table lacks a word.
        """
        cosines = self._rows(candidate) @ self._rows(reference).T
        p, r = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
        return p, r, 2 * p * r / (p + r) if p + r else 0.0

    def _rows(self, text: str) -> np.ndarray:
        return np.stack([self._table[word] for word in text.split()])
