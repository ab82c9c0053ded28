"""How a folder of the sentence-transformers layout makes one vector of a text.

The layout: ``modules.json`` names a transformer, a pooling and perhaps a normalisation, each with
its own configuration. A plain transformers folder has none of these; then the mean of the tokens is
taken, as in sentence-transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.models.weights.weight_files import Unusable, json_of

if TYPE_CHECKING:
    import torch

POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
"""In the order in which several of them are joined."""

_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How token states become one vector.

    Attributes:
        transformer: the folder inside the model's folder that holds the transformer.
        pooling: one or several of `POOLINGS`; several are joined.
        with_prompt: whether the tokens of a prompt count.
        normalize: whether the vector gets length 1.
        max_tokens: a text's tokens at most; ``None`` where only the model's own limit holds.
        lower: whether texts are lowered first.
        prompt: what goes before each text by default.
    """

    transformer: str = ""
    pooling: tuple[str, ...] = ("mean",)
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
                f"{folder} has a module {kind!r} that ragassay does not run (it knows Transformer, "
                "Pooling and Normalize): serve the model behind an OpenAI-compatible endpoint and "
                "name that with --embedder URL#MODEL"
            )
    if pooling is None:
        raise Unusable(f"{folder}/modules.json names no pooling")
    settings = json_of(folder / transformer / "sentence_bert_config.json") or {}
    settings_of_folder = json_of(folder / "config_sentence_transformers.json") or {}
    default = settings_of_folder.get("default_prompt_name")
    return Recipe(
        transformer,
        _poolings(pooling, folder),
        bool(pooling.get("include_prompt", True)),
        normalize,
        settings.get("max_seq_length"),
        bool(settings.get("do_lower_case", False)),
        (settings_of_folder.get("prompts") or {}).get(default, "") if default else "",
    )


def pool(
    states: torch.Tensor, mask: torch.Tensor, poolings: tuple[str, ...], skipped: int = 0
) -> torch.Tensor:
    """Vectors of texts from the states of their tokens.

    Args:
        states: shape ``(texts, tokens, width)``.
        mask: shape ``(texts, tokens)``: 1 where there is a token, 0 where padding follows.
        poolings: see `Recipe`.
        skipped: tokens at the beginning that do not count (a prompt's); the first token itself is
            always there for ``cls``.

    Returns:
        Vectors, shape ``(texts, width)``, or that width times the number of poolings.
    """
    import torch

    first = states[:, 0]
    last = states[torch.arange(len(states)), mask.sum(dim=1) - 1]
    if skipped:
        mask = mask.clone()
        mask[:, :skipped] = 0
    weights = mask.unsqueeze(-1).to(states.dtype)
    places = torch.arange(1, states.shape[1] + 1, device=states.device, dtype=states.dtype)

    def pooled(kind: str) -> torch.Tensor:
        if kind == "cls":
            return first
        if kind == "lasttoken":
            return last
        if kind == "max":
            return states.masked_fill(weights == 0, float("-inf")).amax(dim=1)
        token_weights = weights * places[None, :, None] if kind == "weightedmean" else weights
        total = (states * token_weights).sum(dim=1)
        n = token_weights.sum(dim=1).clamp(min=1e-9)
        return total / (n.sqrt() if kind == "mean_sqrt_len_tokens" else n)

    return torch.cat([pooled(kind) for kind in POOLINGS if kind in poolings], dim=1)


def _poolings(config: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    mode = config.get("pooling_mode")
    if mode is not None:
        chosen = [mode] if isinstance(mode, str) else list(mode)
    else:
        flags = [key for key, value in config.items() if key.startswith("pooling_") and value]
        chosen = [_MODES.get(key, key) for key in flags]
        if not any(key.startswith("pooling_mode_") for key in config):
            chosen = ["mean"]
    unknown = [name for name in chosen if name not in POOLINGS]
    if unknown or not chosen:
        raise Unusable(
            f"{folder} pools in a way that ragassay does not know "
            f"({', '.join(map(str, unknown)) or 'none is switched on'}); there are: "
            f"{', '.join(POOLINGS)}"
        )
    return tuple(chosen)
