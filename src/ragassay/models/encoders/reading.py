"""How many of the texts that a model read were too long for it, for a report."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from ragassay.counts import either, share
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights import Weights, label_of


class Reading:
    """What of a run's texts a model read. One serves all layers of the model.

    Args:
        options: where the model is.
        weights: which model.
    """

    def __init__(self, options: ModelOptions, weights: Weights) -> None:
        self._options, self._weights = options, weights
        self._longest: int | None = None
        self._whole: dict[bytes, bool] = {}
        self._lock = threading.Lock()

    def add(self, texts: Iterable[tuple[str, bool]], longest: int | None) -> None:
        """Counts texts, each once however often it is given.

        Args:
            texts: each with whether it was cut.
            longest: most tokens of a text that the model reads.
        """
        found = {_name(text): not cut for text, cut in dict(texts).items()}
        with self._lock:
            self._longest = longest
            self._whole.update(found)

    def remarks(self) -> Sequence[str]:
        """How many texts were cut since this was last asked for; nothing where none was."""
        with self._lock:
            n, cut = len(self._whole), sum(not whole for whole in self._whole.values())
            self._whole.clear()
        if not cut:
            return ()
        label = label_of(self._weights, self._options.folders)
        return (
            f"{share(cut, n, 'text')} {either(cut, 'is', 'are')} longer than the {self._longest} "
            f"tokens that {label} reads: BERTScore compares "
            f"{either(cut, 'its beginning', 'their beginnings')}.",
        )


def _name(text: str) -> bytes:
    """Stands for the text, which need not be kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
