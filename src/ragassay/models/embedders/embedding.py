"""What turns texts into vectors, however they are computed, and the results for texts that
failed."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragassay.base.score import Unscored
from ragassay.models.encoders.memory import ByteCache, text_key

if TYPE_CHECKING:
    from ragassay.judges.asking import Usage

Vector = NDArray[np.float32]


Embedded = Vector | Unscored
"""A vector, or why there is none."""


class Embedder(ABC):
    """The vectors of texts. Threads may share it; one of them is served at a time.

    Args:
        cache_mib: memory, in MiB, for vectors that may be needed again. Within it, each text is
            embedded once.
    """

    def __init__(self, cache_mib: int) -> None:
        self._cache = ByteCache[Vector](cache_mib << 20)
        self._one_at_a_time = threading.Lock()

    @property
    @abstractmethod
    def label(self) -> str:
        """The embedder's name in outputs."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Distinguishes its vectors from those of others, for signatures."""

    def embed(self, texts: Iterable[str]) -> Mapping[str, Embedded]:
        """The vector of each distinct text, or why there is none.

        A blank text has no vector, is not sent to any model or endpoint, and is not in the result.

        Raises:
            Unavailable: the model is not available.
        """
        wanted = [text for text in dict.fromkeys(texts) if not is_blank(text)]
        with self._one_at_a_time:
            vectors: dict[str, Embedded] = {}
            missing = []
            for text in wanted:
                vector = self._cache.get(text_key(text))
                if vector is None:
                    missing.append(text)
                else:
                    vectors[text] = vector
            if missing:
                for text, embedded in zip(missing, self._embed(missing), strict=True):
                    vectors[text] = embedded
                    if not isinstance(embedded, Unscored):
                        self._cache.put(text_key(text), embedded, embedded.nbytes + _ROW)
        return vectors

    @abstractmethod
    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        """One vector, or the reason why there is none, for each of these different texts."""

    @property
    def usage(self) -> Usage | None:
        """What was asked of an endpoint, and its cost; ``None`` for an embedder on this machine."""
        return None

    def remarks(self) -> Sequence[str]:
        """What a report should say about the vectors made since the last call."""
        return ()

    def close(self) -> None:
        """Ends the work in progress, so that vectors already paid for are received."""


def is_blank(text: str) -> bool:
    """Whether a text holds nothing but white space."""
    return not text.strip()


_ROW = 300
"""Bytes that a vector takes beside its numbers: the array, the digest, its place in the cache."""
