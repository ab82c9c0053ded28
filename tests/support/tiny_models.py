"""Models of the real architectures with a few random weights, saved as folders for a test.

Their values are chance and their arithmetic is not: what a peer says about the same folder is what
ragassay must say.
"""

import string
from pathlib import Path
from typing import Any

SENTENCES = (
    "Frank Herbert wrote Dune in 1965, a long novel about sand.",
    "The novel Dune was written by an American author.", "A cat sat on the mat; the dog did not.",
    "Paris is the capital of France, and Berlin that of Germany!",
    "Who wrote the book? Nobody knows.", "It rains.", "the the the",
    "Straße, naïve café — 東京 is far away",
    "one two three four five six seven eight nine ten eleven twelve", "x",
)  # fmt: skip
"""Texts of several lengths, words repeated among them, letters of several scripts."""

_COMMON = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 24}
_WILD = 0.4
"""Standard deviation of random weights, large enough that tokens differ much from each other."""


def tiny_encoder(
    folder: Path, kind: str, *, layers: int = 3, limit: int | None = 64, seed: int = 0,
    **config: Any,
) -> str:  # fmt: skip
    """Saves a random encoder with its tokeniser and returns the folder.

    Args:
        folder: where; it is made.
        kind: ``bert``, ``roberta``, ``deberta`` ... (see `_configs`).
        layers: how many layers it has.
        limit: what its tokeniser states as longest text; nothing where ``None``.
        seed: of the weights.
        config: further fields of its configuration.
    """
    import torch
    from transformers import AutoModel, AutoModelForTextEncoding

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer(kind)
    tokenizer.model_max_length = limit or int(1e30)
    tokenizer.save_pretrained(folder)
    made = _config(kind, len(tokenizer), layers, config)
    torch.manual_seed(seed)
    encoders = AutoModelForTextEncoding if kind == "t5" else AutoModel
    model = encoders.from_config(made).eval()
    for weight in model.parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=_WILD)
    model.save_pretrained(folder)
    return str(folder)


def _config(kind: str, vocabulary: int, layers: int, further: dict[str, Any]) -> Any:
    from transformers import AutoConfig

    fields = {**_COMMON, "vocab_size": vocabulary, "max_position_embeddings": 64}
    fields["num_hidden_layers"] = layers
    if kind in ("roberta", "xlm-roberta"):
        fields |= {"max_position_embeddings": 66, "pad_token_id": 1, "type_vocab_size": 1}
    elif kind.startswith("deberta"):
        fields |= {
            "relative_attention": True,
            "max_relative_positions": -1,
            "position_biased_input": False,
            "pos_att_type": ["c2p", "p2c"],
            "type_vocab_size": 0,
            "pooler_hidden_size": 16,
        }
    elif kind == "albert":
        fields |= {"embedding_size": 8}
    elif kind == "distilbert":
        fields = {
            "dim": 16, "n_heads": 2, "hidden_dim": 24, "n_layers": layers,
            "vocab_size": vocabulary, "max_position_embeddings": 64,
        }  # fmt: skip
    elif kind == "electra":
        fields |= {"embedding_size": 8}
    elif kind == "t5":
        fields = {
            "d_model": 16, "d_kv": 8, "d_ff": 24, "num_heads": 2, "num_layers": layers,
            "vocab_size": vocabulary,
        }  # fmt: skip
    elif kind == "xlnet":
        fields = {
            "d_model": 16, "n_head": 2, "d_inner": 24, "n_layer": layers, "vocab_size": vocabulary,
        }  # fmt: skip
    return AutoConfig.for_model(kind, **(fields | further))


def _tokenizer(kind: str) -> Any:
    if kind in ("roberta", "deberta"):
        return _byte_pairs(kind)
    if kind == "t5":
        return _ending_in_one_mark()
    return _word_pieces()


def _word_pieces() -> Any:
    """BERT's: lower case, pieces of words, ``[CLS]`` and ``[SEP]``."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = string.ascii_lowercase + string.digits + string.punctuation
    words = ["the", "dune", "wrote", "novel", "cat", "##ing", "##es", "one", "is", "in", "capital"]
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters), *words]
    vocabulary = {piece: at for at, piece in enumerate(dict.fromkeys(pieces))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    )  # fmt: skip


def _byte_pairs(kind: str) -> Any:
    """RoBERTa's and DeBERTa's: pairs of bytes, a space belongs to the word behind it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import DebertaTokenizer, RobertaTokenizer

    roberta = kind == "roberta"
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    if not roberta:
        special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=360, special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
    )  # fmt: skip
    made.train_from_iterator([*SENTENCES, *(f" {text}" for text in SENTENCES)], trainer)
    import json

    model = json.loads(made.to_str())["model"]
    merges = [tuple(pair) for pair in model["merges"]]
    cls = RobertaTokenizer if roberta else DebertaTokenizer
    return cls(vocab=model["vocab"], merges=merges)


def _ending_in_one_mark() -> Any:
    """T5's: one mark at the end, none at the beginning."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    signs = [*string.ascii_letters, *string.digits, *string.punctuation, "▁"]
    words = ["▁the", "▁Dune", "▁novel", "▁is"]
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [(word, -2.0) for word in words] + [(sign, -6.0) for sign in signs]
    made = Tokenizer(models.Unigram(pieces, unk_id=2))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
