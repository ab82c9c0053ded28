"""What turns texts into vectors, whoever computes them, and what becomes of those that failed."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragassay.models.encoders import ByteCache
from ragassay.scores import Reason

if TYPE_CHECKING:
    from ragassay.judges import Usage

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A text without a vector: why, and one sentence for a person."""

    reason: Reason
    detail: str


Embedded = Vector | Unembedded


class Embedder(ABC):
    """The vectors of texts. Safe to share between threads; one of them is served at a time.

    Args:
        cache_mib: memory for vectors that may be needed again. Within it, each text is embedded
            once.
    """

    def __init__(self, cache_mib: int) -> None:
        self._cache = ByteCache[Vector](cache_mib << 20)
        self._one_at_a_time = threading.Lock()

    @property
    @abstractmethod
    def label(self) -> str:
        """What outputs call it."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What tells its vectors from those of others, for signatures."""

    def embed(self, texts: Iterable[str]) -> Mapping[str, Embedded]:
        """The vector of each distinct text, or why there is none.

        A text of only white space says nothing: it has no vector, reaches no model and no endpoint,
        and is not among what comes back.

        Raises:
            Unavailable: the model is not here.
        """
        wanted = [text for text in dict.fromkeys(texts) if not is_blank(text)]
        with self._one_at_a_time:
            found: dict[str, Embedded] = {}
            missing = []
            for text in wanted:
                vector = self._cache.get(_name(text))
                if vector is None:
                    missing.append(text)
                else:
                    found[text] = vector
            if missing:
                for text, embedded in zip(missing, self._embed(missing), strict=True):
                    found[text] = embedded
                    if not isinstance(embedded, Unembedded):
                        self._cache.put(_name(text), embedded, embedded.nbytes + _ROW)
        return found

    @abstractmethod
    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        """One vector, or the reason why there is none, for each of these different texts."""

    @property
    def usage(self) -> Usage | None:
        """What was asked of an endpoint, and what that cost; ``None`` on this machine."""
        return None

    def remarks(self) -> Sequence[str]:
        """What a report should say about the vectors made since this was last asked for."""
        return ()

    def close(self) -> None:
        """Ends what is under way, so that what is paid for arrives."""


def is_blank(text: str) -> bool:
    """Whether a text holds nothing but white space."""
    return not text.strip()


_ROW = 300
"""Bytes that a vector takes beside its numbers: the array, the digest, its place in the cache."""


def _name(text: str) -> bytes:
    """Stands for the text, which need not be kept."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
