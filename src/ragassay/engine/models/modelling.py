"""Which neural models a run uses, by its configuration and its metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import numpy as np

from ragassay.base.errors import UsageError
from ragassay.base.score import Unscored
from ragassay.engine.config.run_config import RunConfig
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric, reached
from ragassay.metrics.core.metric_parameters import choices_of
from ragassay.models.model_options import ModelOptions, in_half
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import (
    Unavailable,
    Weights,
    facts,
    folder_of,
    identity,
    place_of,
)


def model_options(config: RunConfig) -> ModelOptions:
    """Where a configuration says that models are, and how they run."""
    return ModelOptions(config.models, config.device, config.dtype, config.batch_size)


def cosine_of(config: RunConfig, name: str) -> tuple[Callable[[str, str], float | None], str]:
    """The cosine of two texts' vectors by a model on this machine (``None`` where a text has none),
    and the model's label.

    Args:
        config: says where models are, and how they run.
        name: of a sentence encoder, or its folder.

    Raises:
        UsageError: a package or the model is not available.
    """
    from ragassay.models.embedders.embedder import LocalEmbedder

    try:
        embedder = LocalEmbedder(model_options(config), Weights.parse(name))
    except Unavailable as error:
        raise UsageError(f"offline:{name}: {error}") from error

    def cosine(one: str, other: str) -> float | None:
        vectors = embedder.embed((one, other))
        a, b = vectors.get(one), vectors.get(other)
        if a is None or b is None or isinstance(a, Unscored) or isinstance(b, Unscored):
            return None
        size = float(np.linalg.norm(a) * np.linalg.norm(b))
        return float(a @ b) / size if size else None

    return cosine, embedder.label


def weights_among(metrics: Iterable[Metric], embedder: str | None = None) -> list[Weights]:
    """The models that metrics use, those of their inputs included.

    Args:
        metrics: of a run.
        embedder: the model that embeds; it is the last one, where one of the metrics embeds.
    """
    used = reached(metrics)
    weights = [one for metric in used for one in metric.weights]
    if embedder is not None and any(metric.embeds for metric in used):
        weights.append(Weights.parse(embedder))
    return list(dict.fromkeys(weights))


def embedding_among(metrics: Iterable[Metric]) -> bool:
    """Whether one of the metrics, or of their inputs, uses the run's embedder."""
    return any(metric.embeds for metric in reached(metrics))


def by_cosine(metrics: Iterable[Metric]) -> list[Metric]:
    """The metrics that can compare vectors, changed so that they do (``by=cosine``)."""
    changed = []
    for metric in metrics:
        by = naming.parameters(metric).get("by")
        if by is not None and "cosine" in (choices_of(metric, by) or ()):
            changed.append(naming.with_parameters(metric, {"by": "cosine"}))
    return changed


def here(
    metrics: Iterable[Metric], folders: Mapping[str, str], embedder: str | None = None
) -> bool:
    """Whether any model that the metrics use is on this machine. Scoring then takes long.

    Args:
        metrics: of a run.
        folders: that it names for models.
        embedder: the model that embeds, where it is on this machine.
    """
    metrics = list(metrics)
    complete = weights_among(metrics)  # an embedder may be a folder of another layout
    for weights in weights_among(metrics, embedder):
        with suppress(Unavailable):
            (folder_of if weights in complete else place_of)(weights, folders)
            return True
    return False


def identities(metric: Metric, models: Models) -> list[str]:
    """Identifies the weights that a metric uses: one text for each model, and the model's bare name
    where its weights are not on this machine.

    Args:
        metric: whose models are meant, those of its inputs included.
        models: of the run.
    """
    names = []
    for weights in weights_among([metric]):
        try:
            name = identity(weights, models.options.folders)
            names.append(name if facts(weights).tokenizer else name + in_half(models.options))
        except Unavailable:
            names.append(weights.name)
    if embedding_among([metric]):
        try:
            names.append(models.embedder.identity)
        except Unavailable:
            names.append("no embedder")
    return names
