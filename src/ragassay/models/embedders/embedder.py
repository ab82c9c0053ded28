"""What turns texts into vectors; and sentence vectors by a model on this machine. Pooling,
normalisation, longest text and default prompt of a sentence-transformers folder are applied here.
Vectors are float32 and do not depend on what else is embedded at the same time."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from ragassay.base.printable import either, share
from ragassay.base.score import Reason, Unscored
from ragassay.models.encoders.text_model import ByteCache, TextModel, text_key
from ragassay.models.model_options import ModelOptions, in_half
from ragassay.models.weights import weight_files
from ragassay.models.weights.weight_files import Unusable, Weights, json_of

if TYPE_CHECKING:
    import torch

    from ragassay.judges.asking import Usage


_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "lasttoken",
}
_SERVE_IT = "Serve the model at an OpenAI-compatible endpoint and name that: --embedder URL#MODEL"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How token states become one vector. ``transformer`` is the folder inside the model's;
    ``pooling`` is ``mean``, ``cls`` (the first token) or ``lasttoken``; ``with_prompt`` counts the
    tokens of a prompt; ``max_tokens`` is ``None`` where only the model's own limit holds."""

    transformer: str = ""
    pooling: str = "mean"
    with_prompt: bool = True
    normalize: bool = False
    max_tokens: int | None = None
    lower: bool = False
    prompt: str = ""


def read_recipe(folder: Path) -> Recipe:
    """The recipe in a folder's configuration; the defaults for a plain transformers folder."""
    modules = json_of(folder / "modules.json")
    if modules is None:
        return Recipe()
    transformer, pooling, normalize = "", None, False
    for at, module in enumerate(modules):
        kind = str(module["type"]).rsplit(".", 1)[-1]
        path = str(module.get("path") or "")
        if kind == "Transformer" and at == 0:
            transformer = path
        elif kind == "Pooling" and at == 1:
            pooling = json_of(folder / path / "config.json") or {}
        elif kind == "Normalize" and pooling is not None:
            normalize = True
        else:
            raise Unusable(
                f"{folder} has a module {kind!r}; ragassay knows Transformer, Pooling and "
                f"Normalize. {_SERVE_IT}"
            )
    if pooling is None:
        raise Unusable(f"{folder}/modules.json names no pooling")
    settings = json_of(folder / transformer / "sentence_bert_config.json") or {}
    of_folder = json_of(folder / "config_sentence_transformers.json") or {}
    with_prompt, lower = pooling.get("include_prompt", True), settings.get("do_lower_case", False)
    prompt = (of_folder.get("prompts") or {}).get(of_folder.get("default_prompt_name")) or ""
    how = _pooling(pooling, folder), bool(with_prompt), normalize
    return Recipe(transformer, *how, settings.get("max_seq_length"), bool(lower), prompt)


def pool(states: torch.Tensor, mask: torch.Tensor, pooling: str, skipped: int = 0) -> torch.Tensor:
    """Vectors of texts, shape ``(texts, width)``, from their tokens' states, ``(texts, tokens,
    width)``, and mask (1 for a token); the ``skipped`` tokens of a prompt are not in the mean."""
    import torch

    if pooling == "cls":
        return states[:, 0]
    if pooling == "lasttoken":
        return states[torch.arange(len(states)), mask.sum(dim=1) - 1]
    if skipped:
        mask = mask.clone()
        mask[:, :skipped] = 0
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)


def _pooling(config: Mapping[str, Any], folder: Path) -> str:
    mode = config.get("pooling_mode")
    if mode is None:
        flags = [key for key, value in config.items() if key.startswith("pooling_") and value]
        is_silent = not any(key.startswith("pooling_mode_") for key in config)
        mode = ["mean"] if is_silent else [_MODES.get(key, key) for key in flags]
    chosen = [mode] if isinstance(mode, str) else list(mode)
    if len(chosen) != 1 or chosen[0] not in _MODES.values():
        raise Unusable(
            f"{folder} pools by {', '.join(map(str, chosen)) or 'nothing'}; ragassay knows one of "
            f"{', '.join(_MODES.values())}. {_SERVE_IT}"
        )
    return str(chosen[0])


DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"  # small, for any machine, and well known
_AT_ONCE = 8_192  # texts that are cut into tokens at a time, which take more memory than the text
_ROW = 300  # bytes that a vector takes in the cache beside its numbers

Vector = NDArray[np.float32]
Embedded = Vector | Unscored  # a vector, or why there is none


class Embedder(ABC):
    """The vectors of texts. Threads may share it; one of them is served at a time. Within
    ``cache_mib`` MiB of memory, each text is embedded once. ``label`` is its name in outputs;
    ``identity`` distinguishes its vectors from those of others, for signatures; ``usage`` is what
    was asked of an endpoint, and its cost (``None`` on this machine)."""

    label: str
    identity: str
    usage: Usage | None = None

    def __init__(self, cache_mib: int) -> None:
        self._cache = ByteCache[Vector](cache_mib << 20)
        self._one_at_a_time = threading.Lock()

    def embed(self, texts: Iterable[str]) -> Mapping[str, Embedded]:
        """The vector of each distinct text, or why there is none; an `Unavailable` where the model
        is not available. A blank text has no vector, is not sent, and is not in the result."""
        wanted = [text for text in dict.fromkeys(texts) if not is_blank(text)]
        with self._one_at_a_time:
            vectors: dict[str, Embedded] = {}
            missing = []
            for text in wanted:
                if (vector := self._cache.get(text_key(text))) is None:
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
        weight_files.needs_packages()
        place = weight_files.place_of(weights, options.folders)
        self.recipe = read_recipe(place)
        folder = weight_files.folder_of(Weights(str(place / self.recipe.transformer)), {})
        self.prefix = self.recipe.prompt if prefix is None else prefix
        self.identity = weight_files.identity(weights, options.folders) + in_half(options)
        if self.prefix:
            self.identity += f"+{self.prefix!r}"
        self.label = weight_files.label_of(weights, options.folders)
        self._text_model = TextModel(options, folder)
        most = self._text_model.most_tokens(self.recipe.max_tokens)
        self.max_tokens = self._text_model.longest = most
        self._skipped = 0 if self.recipe.with_prompt else self._length_of(self.prefix)
        self.embedded = self.shortened = 0

    @override
    def remarks(self) -> Sequence[str]:
        n, cut = self.embedded, self.shortened
        self.embedded = self.shortened = 0
        if not cut:
            return ()
        return (
            f"{share(cut, n, 'text')} {either(cut, 'is', 'are')} longer than the {self.max_tokens} "
            f"tokens that {self.label} reads, and embedded by the beginning.",
        )

    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        starts = range(0, len(texts), _AT_ONCE)
        return [value for at in starts for value in self._embed_part(texts[at : at + _AT_ONCE])]

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
