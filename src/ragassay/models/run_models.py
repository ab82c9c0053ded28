"""The models that a run uses: each loaded once, when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ragassay.models.model_options import ModelOptions
from ragassay.models.weights import Unavailable, Weights

if TYPE_CHECKING:
    from ragassay.models.embedders import Embedder


I = TypeVar("I")  # noqa: E741


class Models:
    """A run's models. Safe to share between threads; each model is used by one at a time.

    Args:
        options: where models are and how they run.
        embedding: makes the run's embedder; the default model on this machine where left out.
    """

    def __init__(
        self,
        options: ModelOptions | None = None,
        embedding: Callable[[Models], Embedder] | None = None,
    ) -> None:
        self.options = options or ModelOptions()
        self._embedding = embedding or _default_embedder
        self._embedder: Embedder | None = None
        self._made: dict[Hashable, Any] = {}
        self._lock = threading.Lock()
        self._embedder_lock = threading.Lock()

    @property
    def embedder(self) -> Embedder:
        """What turns texts into vectors in this run, made the first time.

        Raises:
            Unavailable: a package or the model is not here.
        """
        with self._embedder_lock:
            if self._embedder is None:
                try:
                    self._embedder = self._embedding(self)
                except Unavailable as error:
                    raise error.saying(
                        f"no vectors: {error}; --embedder names another model"
                    ) from error
            return self._embedder

    @property
    def embedder_used(self) -> Embedder | None:
        """The embedder, where anybody has asked for it."""
        return self._embedder

    def remarks(self) -> list[str]:
        """What a report should say about the models' work since this was last asked for, so that
        the report of each step tells of that step."""
        with self._lock:
            used = {id(one): one for one in (*self._made.values(), self._embedder)}
        return [said for one in used.values() if hasattr(one, "remarks") for said in one.remarks()]

    def use(self, kind: type[I], *spec: Hashable) -> I:
        """The instrument ``kind(options, *spec)``, made the first time.

        Raises:
            Unavailable: a package or the model is not here; said again each time, looked for once.
        """
        key = (kind, spec)
        with self._lock:
            if key not in self._made:
                try:
                    self._made[key] = cast(Any, kind)(self.options, *spec)
                except Unavailable as error:
                    self._made[key] = error
            found = self._made[key]
        if isinstance(found, Unavailable):
            raise found.saying(str(found))
        return cast("I", found)


def _default_embedder(models: Models) -> Embedder:
    from ragassay.models.embedders import DEFAULT, LocalEmbedder

    return models.use(LocalEmbedder, Weights.parse(DEFAULT), None)
