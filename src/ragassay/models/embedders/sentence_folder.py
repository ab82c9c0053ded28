"""How a folder of the sentence-transformers layout (``modules.json`` names a transformer, a pooling
and perhaps a normalisation) makes one vector of a text. A plain transformers folder has the mean of
the tokens taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.models.weights.weight_files import Unusable, json_of

if TYPE_CHECKING:
    import torch

_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "lasttoken",
}


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
        _pooling(pooling, folder),
        bool(pooling.get("include_prompt", True)),
        normalize,
        settings.get("max_seq_length"),
        bool(settings.get("do_lower_case", False)),
        (settings_of_folder.get("prompts") or {}).get(default, "") if default else "",
    )


def pool(states: torch.Tensor, mask: torch.Tensor, pooling: str, skipped: int = 0) -> torch.Tensor:
    """Vectors of texts, shape ``(texts, width)``, from the states of their tokens (``(texts,
    tokens, width)``) and their mask (1 where there is a token). The ``skipped`` tokens of a prompt
    do not count for the mean."""
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
            f"{folder} pools in a way that ragassay does not know "
            f"({', '.join(map(str, chosen)) or 'none is switched on'}); it knows one of "
            f"{', '.join(_MODES.values())}. Serve the model behind an OpenAI-compatible endpoint "
            "and name that with --embedder URL#MODEL"
        )
    return str(chosen[0])
