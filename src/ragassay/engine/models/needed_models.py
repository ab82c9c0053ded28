"""Which neural models a run uses, whether they go with its configuration, and its embedder."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragassay.base.errors import OptionError, UsageError, did_you_mean, warn_user
from ragassay.base.note import Note
from ragassay.base.score import Unscored
from ragassay.engine.config.config_paths import make_absolute
from ragassay.engine.config.run_config import RunConfig, make_config
from ragassay.judges.asking import Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import ModelMetric
from ragassay.metrics.core.metric import Metric, choices_of, reached
from ragassay.models.embedders.embedder import DEFAULT, Embedder
from ragassay.models.model_options import ModelOptions, in_half
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import (
    KNOWN,
    Unavailable,
    Unusable,
    Weights,
    facts,
    folder_of,
    identity,
    is_path,
    no_folder,
    place_of,
)
from ragassay.transport.endpoints.endpoint import TIMEOUT_S

if TYPE_CHECKING:
    from ragassay.judges.judge_factory import Address
    from ragassay.judges.ledger.ledger_store import Ledger
    from ragassay.transport.budget import Budget


def model_options(config: RunConfig) -> ModelOptions:
    """Where a configuration says that models are, and how they run."""
    return ModelOptions(config.models, config.device, config.dtype, config.batch_size)


def cosine_of(config: RunConfig, name: str) -> tuple[Callable[[str, str], float | None], str]:
    """The cosine of two texts' vectors by a model on this machine (``None`` where a text has none),
    and the model's label."""
    from ragassay.models.embedders.embedder import LocalEmbedder

    try:
        embedder = LocalEmbedder(model_options(config), Weights.parse(name))
    except Unavailable as error:
        raise UsageError(f"offline:{name}: {error}") from error

    def cosine(text: str, other: str) -> float | None:
        vectors = embedder.embed((text, other))
        a, b = vectors.get(text), vectors.get(other)
        if a is None or b is None or isinstance(a, Unscored) or isinstance(b, Unscored):
            return None
        size = float(np.linalg.norm(a) * np.linalg.norm(b))
        return float(a @ b) / size if size else None

    return cosine, embedder.label


def weights_among(metrics: Iterable[Metric], embedder: str | None = None) -> list[Weights]:
    """The models that metrics and their inputs use; last the embedder, where one of them embeds."""
    used = reached(metrics)
    weights = [weight for metric in used for weight in metric.weights]
    if embedder is not None and any(metric.embeds for metric in used):
        weights.append(Weights.parse(embedder))
    return list(dict.fromkeys(weights))


def by_cosine(metrics: Iterable[Metric]) -> list[Metric]:
    """The metrics that can compare vectors, changed so that they do (``by=cosine``)."""
    able = (m for m in metrics if "cosine" in choices_of(type(m)).get("by", ()))
    return [naming.with_parameters(metric, {"by": "cosine"}) for metric in able]


def here(
    metrics: Iterable[Metric], folders: Mapping[str, str], embedder: str | None = None
) -> bool:
    """Whether any model that the metrics use is on this machine: scoring then takes long."""
    metrics = list(metrics)
    complete = weights_among(metrics)  # an embedder may be a folder of another layout
    for weights in weights_among(metrics, embedder):
        with suppress(Unavailable):
            (folder_of if weights in complete else place_of)(weights, folders)
            return True
    return False


def identities(metric: Metric, models: Models) -> list[str]:
    """Identifies the weights that a metric uses: one text for each model, and the model's bare name
    where its weights are not on this machine."""
    names = []
    for weights in weights_among([metric]):
        try:
            name = identity(weights, models.options.folders)
            names.append(name if facts(weights).tokenizer else name + in_half(models.options))
        except Unavailable:
            names.append(weights.name)
    if any(part.embeds for part in reached([metric])):
        try:
            names.append(models.embedder.identity)
        except Unavailable:
            names.append("no embedder")
    return names


def is_endpoint(word: str) -> bool:
    """Whether an embedder's word names an endpoint, and no folder or model of the hub."""
    if re.match(r"https?://", word, re.IGNORECASE):
        return True
    if Path(word).is_dir():
        return False
    from ragassay.transport.providers_and_prices import aliases, providers

    if is_path(word):
        raise UsageError(f"--embedder {word}: there is no such folder ({Path(word).absolute()}).")

    return ":" in word or word.casefold() in {*providers(), *aliases()}


def models_used(config: RunConfig, metrics: Iterable[Metric]) -> list[Weights]:
    """The models of a run that are on this machine, or should be; its embedder is the last."""
    metrics, word = reached(metrics), config.embedder or DEFAULT
    is_local = any(metric.embeds for metric in metrics) and not is_endpoint(word)
    return weights_among(metrics, word if is_local else None)


def check_models(config: RunConfig, metrics: Iterable[Metric]) -> None:
    """Checks folders, names, device and parameters before the work begins: a misspelt name would
    leave a metric unscored. A folder for one of ragassay's own models that the run does not use
    gives only a warning, because such lists are kept for many runs."""
    metrics = reached(metrics)
    check_folders(config.models)
    used = models_used(config, metrics)
    if idle := check_names(config.models, used):
        warn_user(str(Note("folder_not_used", {"folders": ", ".join(idle)})))
    if used and config.device not in (None, "auto", "cpu") and find_spec("torch") is not None:
        from ragassay.models.device import device_of

        device_of(model_options(config))
    for metric in [metric for metric in metrics if isinstance(metric, ModelMetric)]:
        for weights in metric.weights:
            name, has_folder = weights.name, {*weights.spellings} & {*config.models}
            if is_path(name) and not has_folder and not Path(name).is_dir():
                raise UsageError(f"{metric}: {no_folder(name)}.")
        try:
            metric.check()
        except Unavailable as error:
            raise UsageError(f"{metric}: {error}.") from error


def check_folders(folders: Mapping[str, str]) -> None:
    """Raises an `OptionError` where a folder that is named for a model does not exist."""
    for name, folder in folders.items():
        if not Path(folder).is_dir():
            raise OptionError(f"models.{name}", f"there is no folder {folder}")


def check_names(names: Iterable[str], used: Collection[Weights]) -> list[str]:
    """Checks that each key of ``models`` is a model of the run, or one of ragassay's own; gives
    those that the run does not use."""
    spellings = {name for weights in used for name in weights.spellings}
    idle = [name for name in names if name not in spellings]
    for name in idle:
        if name not in KNOWN:
            models = sorted({weights.name for weights in used})
            near = did_you_mean(name, models or KNOWN)
            words = ("no metric of this run uses such a model.", near)
            uses = f"It uses {', '.join(models) or 'none'}"
            raise OptionError(f"models.{name}", " ".join(filter(None, (*words, uses))))
    return idle


def address_for(
    config: RunConfig,
    metrics: Iterable[Metric],
    *,
    dry: bool,
    environment: Mapping[str, str] | None,
    named: Mapping[str, str] | None = None,
) -> Address | None:
    """The address of the run's embedder; ``None`` where it is on this machine."""
    word = config.embedder
    if word is not None and not word.strip():
        raise UsageError("The embedder's name is empty (an unset variable?); leave it out.")
    if word is not None and not any(metric.embeds for metric in reached(metrics)):
        warn_user(str(Note("embedder_not_used", {"embedder": word})))
        return None
    if word is None or not is_endpoint((named or {}).get(word, word)):
        for name in ("embedder_dimensions", "embedder_key_file"):
            if getattr(config, name) is not None:
                raise UsageError(f"{name!r} is for endpoints: name an endpoint as the embedder.")
        return None
    from ragassay.judges.judge_factory import address_of
    from ragassay.transport import secrets
    from ragassay.transport.providers_and_prices import protocols

    places = os.environ if environment is None else environment
    # No key is asked for where the address cannot be used.
    address = address_of(word, "", places, secrets.NO_KEY, "embedder", named)
    path = protocols()[address.protocol].embeddings
    if path is None:
        raise UsageError(f"{word} offers no embeddings; name another embedder.")
    key = secrets.NO_KEY if dry else None
    if config.embedder_key_file is not None and not dry:
        key = secrets.from_file(config.embedder_key_file)
    address = address_of(word, "", places, key, "embedder", named)
    if not address.model:
        raise UsageError(f"Which model of {word}? Name it, as in openai:text-embedding-3-small.")
    if find_spec("httpx2") is None:
        raise UsageError("This embedder needs the httpx2 package: pip install 'ragassay[llm]'.")
    return dataclasses.replace(address, url=f"{address.url}{path}", protocol="openai")


def models_for(
    config: RunConfig,
    address: Address | None,
    stack: ExitStack,
    asker: Asker | None,
    ledger: Ledger | None,
    budget: Budget | None,
) -> Models:
    """The models of a run, its embedder among them. Nothing is loaded or opened yet. An endpoint
    shares the judge's event loop, ledger and budget, where there is a judge; the stack closes it.
    """

    def made(models: Models) -> Embedder:
        if address is None:
            return _local(models, config)
        from ragassay.judges.ledger.ledger_store import DEFAULT, Ledger
        from ragassay.models.embedders.embedding_endpoint import TEXTS, EndpointEmbedder
        from ragassay.transport.budget import Budget
        from ragassay.transport.endpoints.http_chats import OpenAIEmbeddings
        from ragassay.transport.providers_and_prices import price_of
        from ragassay.transport.sending import MOST, Limiter

        kept = stack.enter_context(Ledger(config.ledger or DEFAULT)) if ledger is None else ledger
        # Without a judge the embedded one lends its event loop.
        loop = stack.enter_context(Asker(OfflineJudge())) if asker is None else asker
        own_budget = None if config.budget is None else Budget.parse(config.budget)
        timeout = TIMEOUT_S if config.timeout is None else config.timeout
        endpoint = OpenAIEmbeddings(address.url, address.key, timeout=timeout)
        endpoint.alias = address.alias
        embedder = EndpointEmbedder(
            endpoint,
            address.model,
            ledger=kept,
            submit=loop.submit,
            label=address.label,
            identity=address.identity,
            dimensions=config.embedder_dimensions,
            prefix=config.embedder_prefix or "",
            limiter=Limiter(config.concurrency or MOST, rpm=config.rpm, tpm=config.tpm),
            budget=own_budget if budget is None else budget,
            price=price_of(address.model, address.url),
            timeout=timeout,
            batch=config.batch_size or TEXTS,
            renew=config.refresh,
        )
        stack.callback(embedder.close)  # before the ledger and the event loop end
        return embedder

    return Models(model_options(config), made)


_OF_MODELS = ("models", "device", "dtype", "batch_size", "embedder", "embedder_prefix")


def models_again(values: Mapping[str, Any], folder: Path | None) -> Models:
    """The models of a run that was kept, by its ``run.yaml``. Vectors of an endpoint are not kept
    with a run: such an embedder is `Unavailable`, and so is a folder that exists no more."""
    values = {name: values.get(name) for name in _OF_MODELS}
    if folder is not None:
        make_absolute(values, folder)
    config = make_config(**values)

    def made(models: Models) -> Embedder:
        word = config.embedder
        try:
            remote = word is not None and is_endpoint(word)
        except UsageError as error:
            raise Unavailable(str(error)) from error
        if remote:
            raise Unavailable(f"the vectors of {word} are not kept with the run")
        return _local(models, config)

    return Models(model_options(config), made)


def _local(models: Models, config: RunConfig) -> Embedder:
    """The embedder on this machine that a configuration names, or else the default one."""
    from ragassay.models.embedders.embedder import LocalEmbedder

    word = config.embedder
    weights = Weights.parse(word or DEFAULT)
    try:
        return models.use(LocalEmbedder, weights, config.embedder_prefix)
    except Unavailable as error:
        has_folder = weights.name in models.options.folders
        if isinstance(error, Unusable) or has_folder or word is None or Path(word).is_dir():
            raise
        raise error.saying(f"there is no folder {word} here, and {error}") from error
