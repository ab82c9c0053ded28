"""A text encoder cut at a layer: from texts to their tokens and those tokens' vectors, the output
of the cut model (as in bert-score, with T5's final normalisation)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from ragassay.models.encoders.text_model import ByteCache, TextModel
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.weight_files import Weights, folder_of, needs_packages

if TYPE_CHECKING:
    import torch

_PIECE = 4_096  # texts that are tokenised together, which bounds the memory


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text in the form that a model reads: ``ids`` with those that mark beginning and end. It is
    ``complete`` where nothing is cut off, ``empty`` where there is no token but those marks."""

    ids: np.ndarray[Any, np.dtype[np.int32]]
    complete: bool
    empty: bool

    @property
    def key(self) -> bytes:
        """Identifies this row of tokens, in less memory than the row takes."""
        return blake2b(self.ids.tobytes(), digest_size=16).digest()

    def __len__(self) -> int:
        return len(self.ids)


class Encoder(TextModel):
    """An encoder's first layers (0 gives the embeddings themselves, ``None`` all). ``marks`` are
    the tokens that mark a text's beginning and end: they can be matched, but have no weight.
    ``n_encoded`` texts went through the model so far.

    An `Unavailable` where a package, the model or the layer is not there, a `UsageError` for the
    device or precision."""

    def __init__(self, options: ModelOptions, weights: Weights, layer: int | None) -> None:
        needs_packages()
        super().__init__(options, folder_of(weights, options.folders), layer, prefixed=True)
        self.dimensions = int(self.model.config.hidden_size)
        self.longest = self.most_tokens()
        tokenizer = self.tokenizer
        self.marks = _present(tokenizer.cls_token_id, tokenizer.sep_token_id)
        self._special = self.marks | _present(
            tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id
        )
        self.n_encoded = 0
        self.cache: ByteCache[torch.Tensor] = ByteCache(options.cache_mib << 20)
        self._lock = threading.Lock()

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Each text in the form that the model reads, without surrounding white space."""
        rows: list[Tokens] = []
        with self._lock:
            for begin in range(0, len(texts), _PIECE):
                piece = [text.strip() for text in texts[begin : begin + _PIECE]]
                for ids, complete in self.token_ids(piece):
                    row = np.asarray(ids, np.int32)
                    rows.append(Tokens(row, complete, self._special.issuperset(ids)))
        return rows

    def vectors(self, rows: Sequence[Tokens]) -> list[torch.Tensor]:
        """The vectors of each row's tokens: float32, of length 1, shape (tokens, dimensions). Equal
        rows are encoded once and share one tensor, which must not be changed. A `MemoryError` where
        a single text does not fit, an `Unusable` where the model cannot run in this precision."""
        with self._lock:
            by_key: dict[bytes, torch.Tensor] = {}
            missing: dict[bytes, Tokens] = {}
            for key, row in {row.key: row for row in rows}.items():
                if (cached := self.cache.get(key)) is None:
                    missing[key] = row
                else:
                    by_key[key] = cached
            rows_to_encode = list(missing.values())
            forward = partial(self._forward, rows_to_encode)
            encoded = self.batches.run([len(row) for row in rows_to_encode], forward)
            for key, vectors in zip(missing, encoded, strict=True):
                by_key[key] = vectors
                self.cache.put(key, vectors, self.size(len(vectors)))
            return [by_key[row.key] for row in rows]

    def size(self, n_tokens: int) -> int:
        """Bytes that the vectors of ``n_tokens`` tokens take."""
        return n_tokens * self.dimensions * 4

    def _forward(self, rows: Sequence[Tokens], batch: Sequence[int]) -> list[torch.Tensor]:
        import torch

        states, _ = self.states([rows[at].ids for at in batch])
        with torch.inference_mode():
            out = torch.nn.functional.normalize(states, dim=-1)
            # Copies: a view would keep the whole padded batch in memory.
            copies = [out[place, : len(rows[at])].clone() for place, at in enumerate(batch)]
        self.n_encoded += len(batch)
        return copies


def _present(*ids: int | None) -> frozenset[int]:
    return frozenset(number for number in ids if number is not None)
