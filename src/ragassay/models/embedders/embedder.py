"""Sentence vectors by a model on this machine: a folder or a model of the hub's local cache.

Only transformers is needed. Pooling, normalisation, longest text and default prompt of a
sentence-transformers folder are applied here (see `sentence_folder`). Vectors are float32 and do
not depend on what else is embedded at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ragassay.base.counts import either, share
from ragassay.base.score import Reason, Unscored
from ragassay.models.device import Batches, device_of, dtype_of, loading, overflow, running
from ragassay.models.embedders.embedding import Embedded, Embedder
from ragassay.models.embedders.sentence_folder import Recipe, pool, read_recipe
from ragassay.models.encoders.loading import load_encoder, tokenizer_of
from ragassay.models.encoders.token_rows import padded
from ragassay.models.model_options import ModelOptions, in_half
from ragassay.models.weights.weight_files import (
    Weights,
    folder_of,
    identity,
    label_of,
    needs_packages,
    place_of,
)

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
"""The model that embeds where none is named: small, for any machine, and well known."""

_THEIRS = "their vectors are those of their beginnings"

_AT_ONCE = 8_192
"""Texts that are cut into tokens at a time, because the tokens take more memory than the text."""


class LocalEmbedder(Embedder):
    """A local encoder with its pooling.

    Args:
        options: device, precision, batch size, memory, folders.
        weights: the model.
        prefix: put before each text (``"query: "`` for E5); ``None`` for the folder's own default
            prompt, if it has one.

    Raises:
        Unavailable: a package or the model is not available.
        Unusable: the folder has a layout that is not supported.
    """

    def __init__(self, options: ModelOptions, weights: Weights, prefix: str | None = None) -> None:
        super().__init__(options.cache_mib)
        needs_packages()
        place = place_of(weights, options.folders)
        self.recipe = read_recipe(place)
        folder = folder_of(Weights(str(place / self.recipe.transformer)), {})
        self.prefix = self.recipe.prompt if prefix is None else prefix
        self._identity = identity(weights, options.folders) + in_half(options)
        self._label = label_of(weights, options.folders)
        self._device = device_of(options)
        self._tokenizer = tokenizer_of(folder)
        self._dtype = dtype_of(options)
        with loading(self._device):
            self._model = load_encoder(folder, self._dtype).to(self._device)
        self._batches = Batches(self._device, options.batch_size)
        self.max_tokens = _longest(self.recipe, self._tokenizer, self._model)
        self._skipped = 0 if self.recipe.with_prompt else self._length_of(self.prefix)
        self.embedded = self.shortened = 0

    @property
    def label(self) -> str:
        """Name and the beginning of the commit; for a folder its last name and its hash."""
        return self._label

    @property
    def identity(self) -> str:
        """Name and commit, or for a folder the hash of its files; with the prefix, if any."""
        return f"{self._identity}+{self.prefix!r}" if self.prefix else self._identity

    def remarks(self) -> Sequence[str]:
        """How many texts were cut at the model's limit since the last call."""
        n, cut = self.embedded, self.shortened
        self.embedded = self.shortened = 0
        if not cut:
            return ()
        return (
            f"{share(cut, n, 'text')} {either(cut, 'is', 'are')} longer than the {self.max_tokens} "
            f"tokens that {self.label} reads: "
            f"{either(cut, 'its vector is that of its beginning', _THEIRS)}.",
        )

    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        vectors: list[Embedded] = []
        for begin in range(0, len(texts), _AT_ONCE):
            vectors += self._embed_part(texts[begin : begin + _AT_ONCE])
        return vectors

    def _embed_part(self, texts: Sequence[str]) -> list[Embedded]:
        sent = [self.prefix + text for text in texts]
        if self.recipe.lower:
            sent = [text.lower() for text in sent]
        ids = self._tokenizer(sent, add_special_tokens=True, verbose=False)["input_ids"]
        lengths = [len(row) for row in ids]
        self.embedded += len(texts)
        if self.max_tokens is not None:
            long = [at for at, length in enumerate(lengths) if length > self.max_tokens]
            self.shortened += len(long)
            if long:
                cut = self._tokenizer(
                    [sent[at] for at in long], truncation=True, max_length=self.max_tokens
                )["input_ids"]
                for at, row in zip(long, cut, strict=True):
                    ids[at], lengths[at] = row, len(row)
        return self._batches.run(lengths, lambda batch: self._forward([ids[at] for at in batch]))

    def _forward(self, ids: Sequence[Sequence[int]]) -> Sequence[Embedded]:
        import torch

        pad = self._tokenizer.pad_token_id or 0
        inputs = padded(ids, [len(row) for row in ids], self._device, pad)
        with torch.inference_mode(), running(self._dtype, self._device):
            states = self._model(**inputs).last_hidden_state.float()
            vectors = pool(states, inputs["attention_mask"], self.recipe.pooling, self._skipped)
            if self.recipe.normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=1)
        rows = np.asarray(vectors.cpu().numpy(), dtype=np.float32)
        overflowed = Unscored(Reason.FAILED, overflow(self._dtype))
        return [row if np.isfinite(row).all() else overflowed for row in rows]

    def _length_of(self, prompt: str) -> int:
        """Tokens of a prompt, including those that begin a text and without those that end it."""
        if not prompt:
            return 0
        bare = self._tokenizer(prompt, add_special_tokens=False)["input_ids"]
        tokens = self._tokenizer(prompt)["input_ids"]
        begin = next((at for at in range(len(tokens)) if tokens[at : at + len(bare)] == bare), 0)
        return begin + len(bare)


def _longest(recipe: Recipe, tokenizer: Any, model: Any) -> int | None:
    """Most tokens of a text: the folder's limit, within the number of the model's positions."""
    limits = [recipe.max_tokens or tokenizer.model_max_length]
    places = getattr(model.config, "max_position_embeddings", None)
    if places:
        table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        # RoBERTa counts its positions from the one after that of the padding.
        limits.append(places if padding is None else places - padding - 1)
    least = min(limits)
    return int(least) if least < 1_000_000 else None
