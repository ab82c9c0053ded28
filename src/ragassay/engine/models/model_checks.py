"""Checks the options of a run about its models before the work begins: a misspelt name would leave
a metric unscored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from ragassay.base.errors import OptionError, UsageError, did_you_mean, warn_user
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.models.modelling import embedding_among, model_options, weights_among
from ragassay.engine.models.run_embedder import is_endpoint
from ragassay.metrics.core.metric import Metric, reached
from ragassay.metrics.core.modelled import ModelMetric
from ragassay.models.embedders.embedder import DEFAULT
from ragassay.models.weights.weight_files import KNOWN, Unavailable, Weights, is_path, no_folder


def check_models(config: RunConfig, metrics: Iterable[Metric]) -> None:
    """Checks folders, names, device and parameters.

    A folder for one of ragassay's own models that the run does not use gives only a warning,
    because such lists are kept for many runs.

    Args:
        config: names folders and device.
        metrics: of the run.

    Raises:
        UsageError: there is no such folder or device, a folder is for a model that nothing uses, or
            a metric's parameters go with no model.
    """
    metrics = list(metrics)
    check_folders(config.models)
    used = models_used(config, metrics)
    check_names(config.models, used)
    idle = [name for name in config.models if name not in _names(used)]
    if idle:
        warn_user(f"The folder for {', '.join(idle)} is not used: no metric of this run needs it.")
    if used and config.device not in (None, "auto", "cpu") and find_spec("torch") is not None:
        from ragassay.models.device import device_of

        device_of(model_options(config))
    for metric in reached(metrics):
        if not isinstance(metric, ModelMetric):
            continue
        for weights in metric.weights:
            name, has_folder = weights.name, {*weights.spellings} & {*config.models}
            if is_path(name) and not has_folder and not Path(name).is_dir():
                raise UsageError(f"{metric}: {no_folder(name)}.")
        try:
            metric.check()
        except Unavailable as error:
            raise UsageError(f"{metric}: {error}.") from error


def check_folders(folders: Mapping[str, str]) -> None:
    """Checks that the folders that are named for models exist.

    Raises:
        OptionError: one is not.
    """
    for name, folder in folders.items():
        if not Path(folder).is_dir():
            raise OptionError(f"models.{name}", f"there is no folder {folder}")


def check_names(names: Iterable[str], used: Collection[Weights]) -> None:
    """Checks that each name is a model of the run, or one of ragassay's own.

    Args:
        names: keys of the configuration's ``models``.
        used: models that the run uses.

    Raises:
        OptionError: one is neither.
    """
    for name in names:
        if name in KNOWN or name in _names(used):
            continue
        names = sorted({weights.name for weights in used})
        uses = f"It uses {', '.join(names) or 'none'}"
        sentences = ("no metric of this run uses such a model.", did_you_mean(name, names or KNOWN))
        raise OptionError(f"models.{name}", " ".join(filter(None, (*sentences, uses))))


def models_used(config: RunConfig, metrics: Iterable[Metric]) -> list[Weights]:
    """The models of a run that are on this machine, or should be; its embedder is the last.

    Args:
        config: may name an embedder.
        metrics: of the run, with or without models.
    """
    metrics, word = list(metrics), config.embedder or DEFAULT
    is_local = embedding_among(metrics) and not is_endpoint(word)
    return weights_among(metrics, word if is_local else None)


def _names(used: Iterable[Weights]) -> set[str]:
    """The names under which folders may be given for models."""
    return {name for weights in used for name in weights.spellings}
