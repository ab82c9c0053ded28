"""What a run would send to its embedder's endpoint, found without sending anything."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ragassay.engine.config import RunConfig
from ragassay.judges import Address
from ragassay.judges.ledger import DEFAULT, Ledger, VectorStore, exists, is_there
from ragassay.judges.llm import token_estimate
from ragassay.metrics.core import Metric
from ragassay.models.embedders import is_blank
from ragassay.samples import Sample
from ragassay.transport import price_of


@dataclass(frozen=True, slots=True)
class EmbeddingPlan:
    """Exact, but for the tokens and what follows from them.

    Attributes:
        embedder: its label.
        texts: distinct texts that need a vector.
        held: how many of these the ledger has.
        input_tokens: of those to send, estimated.
        cost: US dollars; ``None`` where no price is known.
    """

    embedder: str
    texts: int
    held: int
    input_tokens: int
    cost: float | None

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return asdict(self)


class EmbeddingPlanner:
    """Counts the texts of samples that stream past; closed by `plan`.

    Args:
        config: of the run.
        address: where its embedder is.
        metrics: of the run.
    """

    def __init__(self, config: RunConfig, address: Address, metrics: Iterable[Metric]) -> None:
        self._address, self._metrics = address, [metric for metric in metrics if metric.embeds]
        self._prefix = config.embedder_prefix or ""
        self._seen: set[bytes] = set()
        self._held, self._tokens = 0, 0.0
        self._ledger: Ledger | None = None
        self._store: VectorStore | None = None
        place = config.ledger or DEFAULT
        if is_there(place) and not config.refresh:
            self._ledger = Ledger(place, create=False)
            if exists(self._ledger):
                space = (address.url, address.model, config.embedder_dimensions)
                self._store = VectorStore(self._ledger, *space)

    def add(self, sample: Sample) -> None:
        """Takes in a sample."""
        texts = {text for metric in self._metrics for text in metric.texts_to_embed(sample)}
        new = []
        for text in texts:
            if is_blank(text):
                continue
            name = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            if name not in self._seen:
                self._seen.add(name)
                new.append(self._prefix + text)
        held = self._store.find(new) if self._store is not None and new else {}
        self._held += len(held)
        self._tokens += sum(token_estimate.estimate(text) for text in new if text not in held)

    def plan(self) -> EmbeddingPlan:
        """What was found."""
        if self._ledger is not None:
            self._ledger.close()
        price = price_of(self._address.model, self._address.url)
        return EmbeddingPlan(
            self._address.label,
            len(self._seen),
            self._held,
            round(self._tokens),
            None if price is None else price.cost(self._tokens, 0),
        )
