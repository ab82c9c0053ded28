"""Vectors that an endpoint was paid for, in the ledger.

A vector is known by where it came from (endpoint, model, the number of dimensions that was asked
for) and by the hash of its text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragassay.judges.ledger.paid import VECTOR, Paid, source_of
from ragassay.judges.ledger.store import Ledger

if TYPE_CHECKING:
    from numpy.typing import NDArray

KIND = "embedding"
"""What statistics and options call a vector, beside the kinds of questions."""


@dataclass(frozen=True, slots=True)
class PaidVector:
    """A vector and what it took.

    Attributes:
        text: that was sent.
        vector: float32, every component finite.
        answered_by: the model, as the endpoint says.
        input_tokens: its share of the request's tokens.
        cost: its share of the request's price, US dollars; ``None`` where no price is known.
        created: seconds since 1970.
    """

    text: str
    vector: NDArray[np.float32]
    answered_by: str
    input_tokens: int
    cost: float | None
    created: float


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
        self.ledger = ledger
        self._source = source_of(endpoint, model, dimensions or 0)

    def find(self, texts: Iterable[str]) -> Mapping[str, NDArray[np.float32]]:
        """The vectors of those texts that were paid for before."""
        by_key = {self._key(text): text for text in texts}
        return {
            by_key[one.key]: np.frombuffer(one.payload, dtype="<f4").astype(np.float32)
            for one in self.ledger.find(by_key)
        }

    def width(self) -> int | None:
        """Components of the vectors that are kept; ``None`` where there are none."""
        kept = self.ledger.rows(VECTOR, source=self._source)
        return next((len(one.payload) // 4 for one in kept), None)

    async def keep(self, paid: Sequence[PaidVector]) -> None:
        """Keeps vectors. Durable when this returns.

        Raises:
            UsageError: the file cannot be written any more.
        """
        await self.ledger.keep(lambda: map(self._row, paid))

    def _row(self, one: PaidVector) -> Paid:
        facts = {
            "kind": KIND,
            "answered_by": one.answered_by,
            "reason": None,
            "input_tokens": one.input_tokens,
            "output_tokens": 0,  # what was sent has no reply in tokens
            "cost": one.cost,
        }
        vector = one.vector.astype("<f4").tobytes()
        return Paid(VECTOR, self._key(one.text), self._source, facts, vector, one.created)

    def _key(self, text: str) -> str:
        body = f"{self._source}\n{text}"
        return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
