"""Which neural models a run uses, by its configuration and its metrics."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from ragassay.engine.config import RunConfig
from ragassay.metrics.core import Metric, choices_of, naming
from ragassay.models import ModelOptions, Models, Unavailable, Weights, in_half
from ragassay.models.weights import facts, folder_of, identity


def model_options(config: RunConfig) -> ModelOptions:
    """Where a configuration says that models are, and how they run."""
    return ModelOptions(config.models, config.device, config.dtype, config.batch_size)


def weights_among(metrics: Iterable[Metric]) -> list[Weights]:
    """The models that metrics use, those of their inputs included."""
    models: dict[Weights, None] = {}
    for metric in metrics:
        models.update(dict.fromkeys(metric.weights))
        models.update(dict.fromkeys(weights_among(metric.inputs)))
    return list(models)


def embedding_among(metrics: Iterable[Metric]) -> bool:
    """Whether one of the metrics, or of their inputs, uses the run's embedder."""
    return any(metric.embeds or embedding_among(metric.inputs) for metric in metrics)


def by_cosine(metrics: Iterable[Metric]) -> list[Metric]:
    """The metrics that can compare vectors, changed so that they do (``by=cosine``)."""
    changed = []
    for metric in metrics:
        by = naming.parameters(metric).get("by")
        if by is not None and "cosine" in (choices_of(metric, by) or ()):
            changed.append(naming.with_parameters(metric, {"by": "cosine"}))
    return changed


def here(metrics: Iterable[Metric], models: Models) -> bool:
    """Whether any model that the metrics use is on this machine. Scoring then takes long.

    Args:
        metrics: of a run.
        models: of the run; its options name their folders.
    """
    for weights in weights_among(metrics):
        with suppress(Unavailable):
            folder_of(weights, models.options.folders)
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
            known = identity(weights, models.options.folders)
            names.append(known if facts(weights).tokenizer else known + in_half(models.options))
        except Unavailable:
            names.append(weights.name)
    if embedding_among([metric]):
        try:
            names.append(models.embedder.identity)
        except Unavailable:
            names.append("no embedder")
    return names
