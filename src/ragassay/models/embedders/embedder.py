"""What turns texts into vectors; and sentence vectors by a model on this machine. Pooling,
normalisation, longest text and default prompt of a sentence-transformers folder are applied here.
Vectors are float32 and do not depend on what else is embedded at the same time."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from ragassay.base.score import Reason, Unscored
from ragassay.models.embedders.sentence_folder import pool, read_recipe
from ragassay.models.encoders.memory import ByteCache, text_key
from ragassay.models.encoders.text_model import TextModel, cut_texts
from ragassay.models.model_options import ModelOptions, in_half
from ragassay.models.weights.weight_files import (
    Weights,
    folder_of,
    identity,
    label_of,
    needs_packages,
    place_of,
)

if TYPE_CHECKING:
    from ragassay.judges.asking import Usage

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
"""The model that embeds where none is named: small, for any machine, and well known."""

_CUT = "its vector is that of its beginning", "their vectors are those of their beginnings"

_AT_ONCE = 8_192
"""Texts that are cut into tokens at a time, because the tokens take more memory than the text."""


_ROW = 300
"""Bytes that a vector takes beside its numbers: the array, the digest, its place in the cache."""

Vector = NDArray[np.float32]

Embedded = Vector | Unscored  # a vector, or why there is none


class Embedder(ABC):
    """The vectors of texts. Threads may share it; one of them is served at a time. Within
    ``cache_mib`` MiB of memory, each text is embedded once."""

    def __init__(self, cache_mib: int) -> None:
        self._cache = ByteCache[Vector](cache_mib << 20)
        self._one_at_a_time = threading.Lock()

    @property
    @abstractmethod
    def label(self) -> str:
        """The embedder's name in outputs."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Distinguishes its vectors from those of others, for signatures."""

    def embed(self, texts: Iterable[str]) -> Mapping[str, Embedded]:
        """The vector of each distinct text, or why there is none; an `Unavailable` where the model
        is not available. A blank text has no vector, is not sent, and is not in the result."""
        wanted = [text for text in dict.fromkeys(texts) if not is_blank(text)]
        with self._one_at_a_time:
            vectors: dict[str, Embedded] = {}
            missing = []
            for text in wanted:
                vector = self._cache.get(text_key(text))
                if vector is None:
                    missing.append(text)
                else:
                    vectors[text] = vector
            if missing:
                for text, embedded in zip(missing, self._embed(missing), strict=True):
                    vectors[text] = embedded
                    if not isinstance(embedded, Unscored):
                        self._cache.put(text_key(text), embedded, embedded.nbytes + _ROW)
        return vectors

    @abstractmethod
    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        """One vector, or the reason why there is none, for each of these different texts."""

    @property
    def usage(self) -> Usage | None:
        """What was asked of an endpoint, and its cost; ``None`` for an embedder on this machine."""
        return None

    def remarks(self) -> Sequence[str]:
        """What a report should say about the vectors made since the last call."""
        return ()

    def close(self) -> None:
        """Ends the work in progress, so that vectors already paid for are received."""


def is_blank(text: str) -> bool:
    """Whether a text holds nothing but white space."""
    return not text.strip()


class LocalEmbedder(Embedder):
    """A local encoder with its pooling. ``prefix`` goes before each text (``"query: "`` for E5);
    ``None`` takes the folder's own default prompt. An `Unavailable` where a package or the model is
    not here, an `Unusable` for a layout that is not supported."""

    def __init__(self, options: ModelOptions, weights: Weights, prefix: str | None = None) -> None:
        super().__init__(options.cache_mib)
        needs_packages()
        place = place_of(weights, options.folders)
        self.recipe = read_recipe(place)
        folder = folder_of(Weights(str(place / self.recipe.transformer)), {})
        self.prefix = self.recipe.prompt if prefix is None else prefix
        self._identity = identity(weights, options.folders) + in_half(options)
        self._label = label_of(weights, options.folders)
        self._text_model = TextModel(options, folder)
        most = self._text_model.most_tokens(self.recipe.max_tokens)
        self.max_tokens = self._text_model.longest = most
        self._skipped = 0 if self.recipe.with_prompt else self._length_of(self.prefix)
        self.embedded = self.shortened = 0

    @property
    @override
    def label(self) -> str:
        return self._label

    @property
    @override
    def identity(self) -> str:
        return f"{self._identity}+{self.prefix!r}" if self.prefix else self._identity

    @override
    def remarks(self) -> Sequence[str]:
        n, cut = self.embedded, self.shortened
        self.embedded = self.shortened = 0
        return cut_texts(n, cut, self.max_tokens, self.label, _CUT)

    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        vectors: list[Embedded] = []
        for begin in range(0, len(texts), _AT_ONCE):
            vectors += self._embed_part(texts[begin : begin + _AT_ONCE])
        return vectors

    def _embed_part(self, texts: Sequence[str]) -> list[Embedded]:
        sent = [self.prefix + text for text in texts]
        if self.recipe.lower:
            sent = [text.lower() for text in sent]
        rows = list(self._text_model.token_ids(sent))
        self.embedded += len(texts)
        self.shortened += sum(not complete for _, complete in rows)
        ids = [row for row, _ in rows]
        return self._text_model.batches.run(
            [len(row) for row in ids], lambda batch: self._forward([ids[at] for at in batch])
        )

    def _forward(self, ids: Sequence[Sequence[int]]) -> Sequence[Embedded]:
        import torch

        states, mask = self._text_model.states(ids)
        with torch.inference_mode():
            vectors = pool(states, mask, self.recipe.pooling, self._skipped)
            if self.recipe.normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=1)
        rows = np.asarray(vectors.cpu().numpy(), dtype=np.float32)
        overflowed = Unscored(Reason.FAILED, self._text_model.overflow)
        return [row if np.isfinite(row).all() else overflowed for row in rows]

    def _length_of(self, prompt: str) -> int:
        """Tokens of a prompt, including those that begin a text and without those that end it."""
        if not prompt:
            return 0
        bare = self._text_model.tokenizer(prompt, add_special_tokens=False)["input_ids"]
        tokens = self._text_model.tokenizer(prompt)["input_ids"]
        begin = next((at for at in range(len(tokens)) if tokens[at : at + len(bare)] == bare), 0)
        return begin + len(bare)
