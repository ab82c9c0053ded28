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
    found: dict[Weights, None] = {}
    for metric in metrics:
        found.update(dict.fromkeys(metric.weights))
        found.update(dict.fromkeys(weights_among(metric.inputs)))
    return list(found)


def embedding_among(metrics: Iterable[Metric]) -> bool:
    """Whether one of the metrics, or of their inputs, uses the run's embedder."""
    return any(metric.embeds or embedding_among(metric.inputs) for metric in metrics)


def by_cosine(metrics: Iterable[Metric]) -> list[Metric]:
    """Those of the metrics that compare vectors when told to, so told."""
    found = []
    for metric in metrics:
        by = naming.parameters(metric).get("by")
        if by is not None and "cosine" in (choices_of(metric, by) or ()):
            found.append(naming.with_parameters(metric, {"by": "cosine"}))
    return found


def here(metrics: Iterable[Metric], models: Models) -> bool:
    """Whether any model that the metrics use is on this machine: then their work takes long."""
    for weights in weights_among(metrics):
        with suppress(Unavailable):
            folder_of(weights, models.options.folders)
            return True
    return False


def identities(metric: Metric, models: Models) -> list[str]:
    """What tells the weights behind a metric from others; the bare name of those not here."""
    found = []
    for weights in weights_among([metric]):
        try:
            known = identity(weights, models.options.folders)
            found.append(known if facts(weights).tokenizer else known + in_half(models.options))
        except Unavailable:
            found.append(weights.name)
    if embedding_among([metric]):
        try:
            found.append(models.embedder.identity)
        except Unavailable:
            found.append("no embedder")
    return found
