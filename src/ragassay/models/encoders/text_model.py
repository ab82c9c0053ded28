"""A transformer with its tokeniser: from texts to rows of tokens, from rows to their states. Texts
that are too long are cut off at the model's real maximum, and it is known which were."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragassay.base.counts import either, share
from ragassay.models.device import Batches, device_of, dtype_of, loading, overflow
from ragassay.models.encoders.loading import load_encoder, tokenizer_of
from ragassay.models.encoders.memory import text_key
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.weight_files import Weights, label_of

if TYPE_CHECKING:
    import torch
    from numpy.typing import ArrayLike

BOUNDLESS = 1_000_000  # tokenisers that state no maximum give a number beyond all texts (1e30)

_PREFIXED = frozenset({"gpt2", "roberta"})
"""Kinds of models whose first word is read as one within a sentence, with a space before it."""


class TextModel:
    """A model in a folder."""

    longest: int | None = None

    def __init__(
        self,
        options: ModelOptions,
        folder: Path,
        layers: int | None = None,
        *,
        prefixed: bool = False,
    ) -> None:
        self.device, self._dtype = device_of(options), dtype_of(options)
        with loading(self.device):
            self.model = load_encoder(folder, self._dtype, layers).to(self.device)
        prefixed = prefixed and self.model.config.model_type in _PREFIXED
        self.tokenizer = tokenizer_of(folder, **({"add_prefix_space": True} if prefixed else {}))
        self.batches = Batches(self.device, options.batch_size)

    @property
    def overflow(self) -> str:
        """The message for vectors that are not finite."""
        return overflow(self._dtype)

    def most_tokens(self, stated: int | None = None) -> int | None:
        """Most tokens of a text: what is stated, or by the tokeniser; where neither says it, the
        positions in the configuration; never more than the model has positions for."""
        most = stated or self.tokenizer.model_max_length
        limits = [int(most)] if most < BOUNDLESS else []
        table = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        if table is not None:
            # RoBERTa and its like begin to count after the number of the padding token.
            first = 0 if table.padding_idx is None else table.padding_idx + 1
            limits.append(table.num_embeddings - first)
        elif not limits:
            limits.append(getattr(self.model.config, "max_position_embeddings", None) or 0)
        return min((limit for limit in limits if limit > 0), default=None)

    def token_ids(self, texts: Sequence[str]) -> Iterator[tuple[list[int], bool]]:
        """The tokens of each text, those that mark beginning and end included, and whether nothing
        of it is cut off."""
        tokenizer = self.tokenizer
        rows = tokenizer(list(texts), add_special_tokens=True, truncation=False, verbose=False)
        for text, row in zip(texts, rows["input_ids"], strict=True):
            complete = self.longest is None or len(row) <= self.longest
            if not complete:
                row = tokenizer(text, truncation=True, max_length=self.longest)["input_ids"]
            yield row, complete

    def states(self, rows: Sequence[ArrayLike]) -> tuple[torch.Tensor, torch.Tensor]:
        """The states of the tokens of each row in single precision, shape (rows, longest,
        dimensions), and which of them are tokens and no padding (1 or 0)."""
        import torch

        inputs = padded(rows, self.device, self.tokenizer.pad_token_id or 0)
        with torch.inference_mode():
            return self.model(**inputs)[0].float(), inputs["attention_mask"]


def padded(
    rows: Sequence[ArrayLike], device: torch.device, pad: int = 0
) -> dict[str, torch.Tensor]:
    """The arguments with which a model is called: ``input_ids`` and ``attention_mask`` (1 for a
    token, 0 for what fills up), each of shape (rows, longest)."""
    import torch

    arrays = [np.asarray(row, np.int64) for row in rows]
    shape = (len(arrays), max(map(len, arrays)))
    ids, mask = np.full(shape, pad, np.int64), np.zeros(shape, np.int64)
    for at, row in enumerate(arrays):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = 1
    return {
        "input_ids": torch.from_numpy(ids).to(device),
        "attention_mask": torch.from_numpy(mask).to(device),
    }


def cut_texts(
    n: int, cut: int, longest: int | None, label: str, effects: tuple[str, str]
) -> tuple[str, ...]:
    """What a report says of ``n`` texts of which some were cut off after the ``longest`` that the
    model reads; nothing where none was. ``effects``: what follows, of one text and of several."""
    if not cut:
        return ()
    return (
        f"{share(cut, n, 'text')} {either(cut, 'is', 'are')} longer than the {longest} tokens that "
        f"{label} reads: {either(cut, *effects)}.",
    )


class ReadTexts:
    """The texts of a run that a model read, and which of them were cut. One serves all layers of
    the model."""

    def __init__(self, options: ModelOptions, weights: Weights) -> None:
        self._options, self._weights = options, weights
        self._longest: int | None = None
        self._complete: dict[bytes, bool] = {}
        self._lock = threading.Lock()

    def add(self, texts: Iterable[tuple[str, bool]], longest: int | None) -> None:
        """Counts texts, each once however often it is given."""
        complete = {text_key(text): not cut for text, cut in dict(texts).items()}
        with self._lock:
            self._longest = longest
            self._complete.update(complete)

    def remarks(self) -> Sequence[str]:
        """How many texts were cut since the last call; nothing where none was."""
        with self._lock:
            n, cut = len(self._complete), sum(not complete for complete in self._complete.values())
            self._complete.clear()
        label = label_of(self._weights, self._options.folders) if cut else ""
        effects = "BERTScore compares its beginning", "BERTScore compares their beginnings"
        return cut_texts(n, cut, self._longest, label, effects)
