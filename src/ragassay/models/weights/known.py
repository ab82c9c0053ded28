"""The models that ragassay uses by itself: what they are, their licence and how large they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragassay.models.classifiers import FOUNDATION, HHEM
from ragassay.models.weights.weight_files import PINNED, Weights


@dataclass(frozen=True)
class Known:
    """Facts about a model, by its page.

    Attributes:
        what: one line for people.
        licence: SPDX name; empty where nobody wrote it down here.
        size: bytes of the files that are needed, about; 0 where unknown.
        tokenizer: whether only its tokenizer is needed.
        companions: models of which it needs the tokenizer.
        examples: a source, a text and the score that the model's page gives them.
    """

    what: str = ""
    licence: str = ""
    size: int = 0
    tokenizer: bool = False
    companions: tuple[str, ...] = ()
    examples: tuple[tuple[str, str, float], ...] = ()


_FACTS: Mapping[str, Known] = {
    HHEM.name: Known(
        "HHEM-2.1-Open, a classifier of factual consistency, English",
        "Apache-2.0",
        438_536_000,
        companions=(FOUNDATION.name,),
        examples=(
            (
                "A person on a horse jumps over a broken down airplane.",
                "A person is outdoors, on a horse.",
                0.8969419002532959,
            ),
            (
                "The capital of France is Berlin.",
                "The capital of France is Paris.",
                0.011061512865126133,
            ),
        ),
    ),
    FOUNDATION.name: Known(
        "FLAN-T5 base, of which HHEM has the tokenizer", "Apache-2.0", 2_424_000, tokenizer=True
    ),
    "microsoft/deberta-xlarge-mnli": Known(
        "DeBERTa, an encoder of English text", "MIT", 3_041_000_000
    ),
    "xlm-roberta-large": Known(
        "XLM-RoBERTa, an encoder of text in 100 languages", "MIT", 2_254_000_000
    ),
    "sentence-transformers/all-MiniLM-L6-v2": Known(
        "MiniLM, a small embedder of English sentences", "Apache-2.0", 91_600_000
    ),
}

KNOWN: Mapping[str, Known] = {name: _FACTS.get(name, Known()) for name in PINNED}
"""By name on the hub; all that are pinned."""


def facts(weights: Weights) -> Known:
    """What is known about a model; no facts about one that only a user names."""
    return KNOWN.get(weights.name, Known())
