"""HHEM-2.1-Open: how far a text is consistent with a source, 0 to 1. The checkpoint's own code is
not run: it is a stock T5 encoder with a head for two classes and a fixed prompt. Facts by the
model's card and its ``modeling_hhem_v2.py`` (Apache-2.0): names with the prefix ``t5.``; the
tokenizer of google/flan-t5-base; the score is the probability of class 1 at the first position."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from ragassay.base.packages import table
from ragassay.models.device import Batches, device_of, dtype_of, loading, threads
from ragassay.models.encoders.text_model import padded, tensors_of
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.weight_files import (
    CONFIG,
    Unavailable,
    Unusable,
    Weights,
    folder_of,
    json_of,
    needs_packages,
    place_of,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

HHEM: Weights = Weights.parse("vectara/hallucination_evaluation_model")
FOUNDATION: Weights = Weights.parse("google/flan-t5-base")
"""The model that HHEM was made from: its tokenizer and sizes are used, its weights are not."""

PROMPT = (
    "<pad> Determine if the hypothesis is true given the premise?\n\n"
    "Premise: {text1}\n\nHypothesis: {text2}"
)
TOKENIZER = "tokenizer.json"

SHAPE: Mapping[str, Any] = table("ragassay.models.classifiers", "flan_t5_base.json")
"""The sizes of google/flan-t5-base, for a folder without the configuration of a T5."""

Span = tuple[int, int]  # start and end in characters

_SHARED = ("t5.transformer.shared.weight", "t5.transformer.encoder.embed_tokens.weight")
"""Two names of one matrix; the checkpoint holds it once."""


class HhemModel:
    """The loaded model; an `Unavailable` where a package, the model or its tokenizer is not here,
    or the weights do not fit, a `UsageError` for no such device or precision."""

    def __init__(self, options: ModelOptions) -> None:
        needs_packages()
        folder = folder_of(HHEM, options.folders)
        configuration = _configuration(folder / CONFIG)
        has_tokenizer = (folder / TOKENIZER).is_file()
        foundation = None if has_tokenizer else _foundation(options.folders)
        shaped = configuration
        if "d_model" not in shaped:
            shaped = _configuration((foundation or folder) / CONFIG)
        self._tokenizer = _tokenizer((foundation or folder) / TOKENIZER)
        self._device, self._dtype = device_of(options), dtype_of(options)
        with loading(self._device):
            # flan-t5-base's sizes where the configuration is not that of a T5
            own = shaped if "d_model" in shaped else {}
            shape = {name: own.get(name, value) for name, value in SHAPE.items()}
            self._model = _built(shape, tensors_of(folder), folder)
            self._place()
        self._batches = Batches(self._device, options.batch_size)

    def scores(
        self, pairs: Sequence[tuple[str, str]], at_most: int | None = None
    ) -> list[float | None]:
        """For each pair of a source and a text, how far the source supports the text, 0 to 1;
        ``None`` where the arithmetic overflowed, as it may in half precision. A `MemoryError` where
        even a single pair does not fit into memory. ``at_most`` threads are used."""
        prompts = [PROMPT.format(text1=source, text2=text) for source, text in pairs]
        unique = list(dict.fromkeys(prompts))
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(unique)]
        with nullcontext() if at_most is None else threads(at_most):
            values = self._batches.run(
                [len(ids) for ids in tokens],
                lambda batch: self._forward([tokens[at] for at in batch]),
            )
        by_prompt = dict(zip(unique, values, strict=True))
        return [by_prompt[prompt] for prompt in prompts]

    def windows(self, text: str, size: int, overlap: int) -> list[Span]:
        """The stretches of a long text, in characters; see `windows`."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return windows(text, encoding.offsets, size, overlap)

    def _forward(self, tokens: Sequence[Sequence[int]]) -> list[float | None]:
        import torch

        inputs = padded(tokens, self._device)
        with torch.inference_mode():
            logits = self._model(**inputs).logits[:, 0, :]
            values: list[float] = torch.softmax(logits.float(), dim=-1)[:, 1].tolist()
        return [value if math.isfinite(value) else None for value in values]

    def _place(self) -> None:
        """Moves the model; what overflows in half precision (a matrix a layer) stays in single."""
        import torch

        self._model.to(device=self._device, dtype=self._dtype)
        if self._dtype == torch.float16:
            for name, module in self._model.named_modules():
                if name.endswith(".wo"):
                    module.float()


def tokenizer_of(options: ModelOptions) -> Tokenizer:
    """The foundation's tokenizer by itself, or an `Unavailable`."""
    return _tokenizer(_foundation(options.folders) / TOKENIZER)


def _configuration(path: Path) -> Mapping[str, Any]:
    """The content of a configuration file; empty where there is none."""
    configuration: Mapping[str, Any] = json_of(path) or {}
    base = str(configuration.get("foundation", FOUNDATION.name))
    if Path(base).name != Path(FOUNDATION.name).name or (
        configuration.get("prompt", PROMPT) != PROMPT
    ):
        raise Unusable(f"{path} is not HHEM-2.1-Open's: it has another prompt or foundation")
    return configuration


def _foundation(folders: Mapping[str, str]) -> Path:
    """The folder of the foundation, whose tokenizer is needed."""
    try:
        folder = place_of(FOUNDATION, folders)
    except Unavailable as error:
        raise error.saying(f"HHEM's tokenizer is missing: {error}") from None
    if not (folder / TOKENIZER).is_file():
        raise Unusable(f"{folder} holds no {TOKENIZER} of {FOUNDATION.name}, which HHEM needs")
    return folder


def _tokenizer(path: Path) -> Tokenizer:
    """The tokenizer as it was published, without padding and truncation."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # a bare Exception is what it raises
        raise Unusable(f"{path} is damaged ({error}); copy or fetch it again") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _built(shape: Mapping[str, Any], tensors: Mapping[str, Tensor], folder: Path) -> Any:
    """The library's class with these weights in it, built without memory for others."""
    import torch
    from transformers import T5Config, T5ForTokenClassification

    holder = torch.nn.Module()  # gives each weight the prefix of the published file
    with torch.device("meta"):
        holder.t5 = T5ForTokenClassification(T5Config(**shape, num_labels=2))
    shared = [tensors[name] for name in _SHARED if name in tensors]
    if whole := [name for name in tensors if not tensors[name].is_floating_point()]:
        problem = f"{whole[0]} holds {tensors[whole[0]].dtype}"
    elif len(shared) > 1 and not torch.equal(*shared):
        problem = f"{' and '.join(_SHARED)} differ, and must be one"
    else:
        problem = ""
        fitting = {**tensors, **dict.fromkeys(_SHARED if shared else (), *shared[:1])}
        try:
            holder.load_state_dict(fitting, strict=True, assign=True)
        except RuntimeError as error:
            problem = shorten(" ".join(str(error).splitlines()[1:]), 300).rstrip(". ")
    if problem:
        raise Unusable(
            f"the weights in {folder} are not those of HHEM-2.1-Open: {problem}. Fetch them again "
            f"with 'ragassay models fetch {HHEM.name}'"
        )
    model: Any = holder.t5
    model.transformer.encoder.embed_tokens.weight = model.transformer.shared.weight
    return model.eval().requires_grad_(False)


def windows(text: str, tokens: Sequence[Span], size: int, overlap: int) -> list[Span]:
    """Overlapping stretches (start and end in characters) of a text that together hold every one of
    its ``tokens`` (likewise). They have ``size`` tokens at most and share about ``overlap`` with
    the one before, and begin and end between words where there is white space within half a
    window."""
    if not tokens:
        return []
    stretches: list[Span] = []
    begin = 0
    while True:
        end = min(begin + size, len(tokens))
        if end < len(tokens):
            end = _word(text, tokens, end, begin + max(1, size // 2))
        start, stop = tokens[begin][0], tokens[end - 1][1]
        stretches.append((start, stop))
        if end == len(tokens):
            return stretches
        nearest = max(begin + 1, end - overlap)
        begin = _word(text, tokens, nearest, max(begin + 1, nearest - size // 4))


def _word(text: str, tokens: Sequence[Span], at: int, lowest: int) -> int:
    """The last token from ``lowest`` to ``at`` that begins a word; ``at`` where there is none."""
    for index in range(at, lowest - 1, -1):
        start = tokens[index][0]
        if start == 0 or text[start - 1].isspace() or text[start : start + 1].isspace():
            return index
    return at
