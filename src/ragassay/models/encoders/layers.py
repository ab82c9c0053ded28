"""The layer of each model whose BERTScores agree best with people's judgments.

Taken from bert-score 0.3.13, which chose each by its correlation with the judgments of WMT16.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from ragassay.models.weights.weight_files import Weights


def layer_for(model: str) -> int | None:
    """The recommended layer (0 is the embeddings' own); ``None`` where none is recommended.

    Args:
        model: name on the hub, with or without a commit.
    """
    return RECOMMENDED.get(listed_name(model))


def listed_name(model: str) -> str:
    """bert-score's name of a model: without its commit, and without the owner that the hub has
    since put before names such as ``roberta-large``."""
    name = Weights.parse(model).name
    maker, _, rest = name.partition("/")
    return rest if maker in _MAKERS else name


_MAKERS = frozenset({"FacebookAI", "albert", "distilbert", "google-bert", "google-t5", "xlnet"})

RECOMMENDED: Mapping[str, int] = {
    model: int(layer)
    for line in files("ragassay.models").joinpath("layers.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
    for model, layer in [line.split("\t")]
}
"""The layer by bert-score's name of the model."""
