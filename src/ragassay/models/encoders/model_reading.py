"""Counts the texts that were too long for a model, for a report."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from ragassay.base.counts import either, share
from ragassay.models.encoders.memory import text_key
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.weight_files import Weights, label_of


class ReadTexts:
    """The texts of a run that a model read, and which of them were cut. One serves all layers of
    the model.

    Args:
        options: where the model is.
        weights: which model.
    """

    def __init__(self, options: ModelOptions, weights: Weights) -> None:
        self._options, self._weights = options, weights
        self._longest: int | None = None
        self._complete: dict[bytes, bool] = {}
        self._lock = threading.Lock()

    def add(self, texts: Iterable[tuple[str, bool]], longest: int | None) -> None:
        """Counts texts, each once however often it is given.

        Args:
            texts: each with whether it was cut.
            longest: most tokens of a text that the model reads.
        """
        complete = {text_key(text): not cut for text, cut in dict(texts).items()}
        with self._lock:
            self._longest = longest
            self._complete.update(complete)

    def remarks(self) -> Sequence[str]:
        """How many texts were cut since the last call; nothing where none was."""
        with self._lock:
            n, cut = len(self._complete), sum(not complete for complete in self._complete.values())
            self._complete.clear()
        if not cut:
            return ()
        label = label_of(self._weights, self._options.folders)
        return (
            f"{share(cut, n, 'text')} {either(cut, 'is', 'are')} longer than the {self._longest} "
            f"tokens that {label} reads: BERTScore compares "
            f"{either(cut, 'its beginning', 'their beginnings')}.",
        )
