"""The models that a run uses: each loaded once, when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.weight_files import Unavailable, Weights

if TYPE_CHECKING:
    from ragassay.models.embedders.embedder import Embedder


I = TypeVar("I")  # noqa: E741


class Models:
    """A run's models. Threads may share them; each model is used by one thread at a time.
    ``embedding`` makes the run's embedder; by default the default model on this machine.
    ``embedder_used`` is ``None`` until it is needed."""

    def __init__(
        self,
        options: ModelOptions | None = None,
        embedding: Callable[[Models], Embedder] | None = None,
    ) -> None:
        self.options = options or ModelOptions()
        self._embedding = embedding or _default_embedder
        self.embedder_used: Embedder | None = None
        self._instruments: dict[Hashable, Any] = {}
        self._lock = threading.Lock()
        self._embedder_lock = threading.Lock()

    @property
    def embedder(self) -> Embedder:
        """The run's embedder, made on first use, or an `Unavailable`."""
        with self._embedder_lock:
            if self.embedder_used is None:
                try:
                    self.embedder_used = self._embedding(self)
                except Unavailable as error:
                    problem = f"no vectors: {error}; --embedder names another model"
                    raise error.saying(problem) from error
            return self.embedder_used

    def remarks(self) -> list[str]:
        """What a report should say about the models' work since the last call."""
        with self._lock:
            used = {
                id(instrument): instrument
                for instrument in (*self._instruments.values(), self.embedder_used)
            }
        return [
            text for value in used.values() if hasattr(value, "remarks") for text in value.remarks()
        ]

    def use(self, kind: type[I], *spec: Hashable) -> I:
        """The instrument ``kind(options, *spec)``, made on first use. Where a package or the model
        is not available, it is looked for once, and each call raises an `Unavailable`."""
        key = (kind, spec)
        with self._lock:
            if key not in self._instruments:
                try:
                    self._instruments[key] = cast(Any, kind)(self.options, *spec)
                except Unavailable as error:
                    self._instruments[key] = error
            instrument = self._instruments[key]
        if isinstance(instrument, Unavailable):
            raise instrument.saying(str(instrument))
        return cast("I", instrument)


def _default_embedder(models: Models) -> Embedder:
    from ragassay.models.embedders.embedder import DEFAULT, LocalEmbedder

    return models.use(LocalEmbedder, Weights.parse(DEFAULT), None)
