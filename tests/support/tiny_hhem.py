"""A model of HHEM's shape that fits into a test: the names, prefix and files of the published one,
with two layers and a vocabulary of letters. Its numbers are chance, its arithmetic is not."""

import json
import string
from pathlib import Path
from typing import Any

TINY = {
    "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2,
    "relative_attention_num_buckets": 8, "relative_attention_max_distance": 32,
    "feed_forward_proj": "gated-gelu", "layer_norm_epsilon": 1e-6, "pad_token_id": 0,
    "eos_token_id": 1,
}  # fmt: skip
WORDS = ("the", "is", "of", "Iron", "heavy", "Wool", "light", "Determine", "Premise", "Hypothesis")


def vocabulary() -> list[tuple[str, float]]:
    """Special tokens, a few words, and every letter by itself."""
    special = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    words = [(f"▁{word}", -2.0) for word in WORDS]
    signs = [*string.ascii_letters, *string.digits, *string.punctuation, "▁"]
    return [*special, *words, *((sign, -6.0) for sign in signs)]


def save_tokenizer(folder: Path) -> None:
    """A tokenizer in T5's manner: pieces of words, and the end marked."""
    from tokenizers import AddedToken, Tokenizer
    from tokenizers.decoders import Metaspace as Back
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace, Sequence, WhitespaceSplit
    from tokenizers.processors import TemplateProcessing

    made = Tokenizer(Unigram(vocabulary(), unk_id=2))
    made.add_special_tokens([AddedToken(name, special=True) for name in ("<pad>", "</s>", "<unk>")])
    made.pre_tokenizer = Sequence([WhitespaceSplit(), Metaspace()])
    made.decoder = Back()
    made.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))


def tensors(seed: int = 0) -> dict[str, Any]:
    """The weights as the published file names them: prefixed, the shared matrix once."""
    model = plain(seed)
    return {
        f"t5.{name}": tensor.clone().contiguous()
        for name, tensor in model.state_dict().items()
        if name != "transformer.encoder.embed_tokens.weight"
    }


def plain(seed: int = 0) -> Any:
    """The library's own model with the same weights, made its own way."""
    import torch
    from transformers import T5Config, T5ForTokenClassification

    torch.manual_seed(seed)
    config = T5Config(**TINY, vocab_size=len(vocabulary()), num_labels=2)
    model = T5ForTokenClassification(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.4 + (parameter.ndim == 1))
        model.transformer.encoder.embed_tokens.weight = model.transformer.shared.weight
    return model


def save_hhem(folder: Path, weights: dict[str, Any] | None = None) -> Path:
    """The folder of the checkpoint: no tokenizer, and no sizes in its configuration."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    told = {"architectures": ["HHEMv2ForSequenceClassification"], "model_type": "HHEMv2Config"}
    (folder / "config.json").write_text(json.dumps(told))
    held = tensors() if weights is None else weights
    save_file({name: one.clone() for name, one in held.items()}, folder / "model.safetensors")
    return folder


def save_foundation(folder: Path) -> Path:
    """The folder of the foundation: its tokenizer and its configuration."""
    save_tokenizer(folder)
    told = {**TINY, "vocab_size": len(vocabulary()), "model_type": "t5"}
    (folder / "config.json").write_text(json.dumps(told))
    return folder


def save_all(place: Path) -> dict[str, str]:
    """Both folders, as ``--model`` names them."""
    return {
        "vectara/hallucination_evaluation_model": str(save_hhem(place / "hhem")),
        "google/flan-t5-base": str(save_foundation(place / "flan")),
    }
