"""Vectors that an endpoint was paid for: a table of their own in the ledger's file.

A vector is known by where it came from (endpoint, model, the number of dimensions that was asked
for) and by the hash of its text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragassay.judges.ledger.store import Ledger

if TYPE_CHECKING:
    from numpy.typing import NDArray

KIND = "embedding"
"""What the ledger's tables and options call a vector, beside the kinds of questions."""

TABLE = "vectors"

_COLUMNS = "key, endpoint, model, dimensions, answered_by, vector, input_tokens, cost, created"
_KEEP = f"INSERT OR REPLACE INTO {TABLE} ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"

_AT_ONCE = 500
"""Keys in one query."""


@dataclass(frozen=True, slots=True)
class Paid:
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
        self._space = (endpoint, model, dimensions or 0)

    def find(self, texts: Iterable[str]) -> Mapping[str, NDArray[np.float32]]:
        """The vectors of those texts that were paid for before."""
        by_key = {self._key(text): text for text in texts}
        keys = list(by_key)
        vectors = {}
        for begin in range(0, len(keys), _AT_ONCE):
            some = keys[begin : begin + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, vector FROM {TABLE} WHERE key IN ({marks})"
            for key, blob in self.ledger.select(query, some):
                vectors[by_key[key]] = np.frombuffer(blob, dtype="<f4").astype(np.float32)
        return vectors

    def width(self) -> int | None:
        """Components of the vectors that are kept; ``None`` where there are none."""
        query = (
            f"SELECT length(vector) FROM {TABLE} "
            "WHERE endpoint = ? AND model = ? AND dimensions = ? LIMIT 1"
        )
        rows = self.ledger.select(query, self._space)
        return int(rows[0][0]) // 4 if rows else None

    async def keep(self, paid: Sequence[Paid]) -> None:
        """Keeps vectors. Durable when this returns.

        Raises:
            UsageError: the file cannot be written any more.
        """
        rows = []
        for one in paid:
            vector = one.vector.astype("<f4").tobytes()
            took = (one.input_tokens, one.cost, one.created)
            rows.append((self._key(one.text), *self._space, one.answered_by, vector, *took))
        await self.ledger.write([(_KEEP, row) for row in rows])

    def _key(self, text: str) -> bytes:
        body = "\n".join([*map(str, self._space), text])
        return hashlib.sha256(body.encode("utf-8", "surrogatepass")).digest()
