"""Vectors that an endpoint was paid for, in the ledger.

A vector is known by where it came from (endpoint, model, the number of dimensions that was asked
for) and by the hash of its text.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ragassay.judges.ledger.paid import EMBEDDING, VECTOR, Paid
from ragassay.judges.ledger.store import Ledger

if TYPE_CHECKING:
    from numpy.typing import NDArray


class VectorStore:
    """The vectors of one endpoint and model in a ledger.

    Args:
        ledger: where they are kept.
        endpoint: the URL, which never holds a secret.
        model: the model's name there.
        dimensions: components that are asked for; ``None`` for the model's own number.
    """

    def __init__(
        self, ledger: Ledger, endpoint: str, model: str, dimensions: int | None = None
    ) -> None:
        self._ledger, self._endpoint, self._model = ledger, endpoint, model
        self._dimensions = dimensions or 0

    def find(self, texts: Iterable[str]) -> Mapping[str, NDArray[np.float32]]:
        """The vectors of those texts that were paid for before."""
        by_key = {self._key(text): text for text in texts}
        return {
            by_key[one.key]: np.frombuffer(one.payload, dtype="<f4").astype(np.float32)
            for one in self._ledger.find(by_key)
        }

    def width(self) -> int | None:
        """Components of the vectors that are kept; ``None`` where there are none."""
        chosen = "kind = ? AND source = ? AND name = ?"
        kept = self._ledger.rows(chosen, VECTOR, self._endpoint, self._model, page=20)
        widths = (len(one.payload) // 4 for one in kept if one.facts == self._facts)
        return next(widths, None)

    def keep(
        self, paid: Iterable[tuple[str, NDArray[np.float32], int, float | None]]
    ) -> asyncio.Future[None]:
        """Keeps vectors; see `Ledger.keep`.

        Args:
            paid: of each the text, the vector (every component finite), and its share of the
                request's tokens and of its price in US dollars.
        """
        rows = [
            Paid(
                self._key(text),
                VECTOR,
                self._endpoint,
                self._model,
                EMBEDDING,
                self._facts,
                vector.astype("<f4").tobytes(),
                input_tokens=tokens,
                cost=cost,
            )
            for text, vector, tokens, cost in paid
        ]
        return self._ledger.keep(lambda: rows)

    @property
    def _facts(self) -> Mapping[str, int]:
        return {"dimensions": self._dimensions}

    def _key(self, text: str) -> str:
        body = f"{self._endpoint}\n{self._model}\n{self._dimensions}\n{text}"
        return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
