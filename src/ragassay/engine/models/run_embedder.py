"""The embedder of a run, by its configuration.

========================================== ====================================================
``FOLDER``                                 a model in a folder on this machine
``sentence-transformers/all-MiniLM-L6-v2`` a model in the hub's local cache, perhaps ``@COMMIT``
``openai:text-embedding-3-small``          a model of a provider
``http://localhost:8000/v1#model``         any OpenAI-compatible endpoint
========================================== ====================================================
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import UsageError, warn_user
from ragassay.engine.config.config_paths import make_absolute
from ragassay.engine.config.run_config import RunConfig, make_config
from ragassay.engine.models.modelling import (
    by_cosine,
    embedding_among,
    is_endpoint,
    model_options,
)
from ragassay.engine.results.summary import Spending
from ragassay.judges.asking import Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.metrics.core.metric import Metric
from ragassay.models.embedders.embedder import Embedder
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import Unavailable, Unusable, Weights
from ragassay.transport.endpoints.endpoint import TIMEOUT_S

if TYPE_CHECKING:
    from ragassay.judges.judge_factory import Address
    from ragassay.judges.ledger.store import Ledger
    from ragassay.transport.budget import Budget

_OF_ENDPOINTS = ("embedder_dimensions", "embedder_key_file")
"""Keys of a configuration that only an endpoint understands."""


def address_for(
    config: RunConfig,
    metrics: Iterable[Metric],
    *,
    dry: bool,
    environment: Mapping[str, str] | None,
    named: Mapping[str, str] | None = None,
) -> Address | None:
    """The address of the run's embedder; ``None`` where it is on this machine.

    Args:
        config: names the embedder.
        metrics: of the run; an embedder that none of them uses is not looked for.
        dry: nothing will be sent, so no key is needed.
        environment: where keys are looked for; the process's own when left out.
        named: the words that names of an operator stand for.
    """
    word = config.embedder
    if word is not None and not word.strip():
        raise UsageError("The embedder's name is empty (an unset variable?); leave it out.")
    idle = next((name for name in _OF_ENDPOINTS if getattr(config, name) is not None), None)
    if word is None:
        if idle is not None:
            raise UsageError(f"{idle!r} goes with an endpoint: name one as the embedder.")
        return None
    if not embedding_among(metrics):
        hint = " --option by=cosine compares chunks by it." if by_cosine(metrics) else ""
        warn_user(f"The embedder {word} is not used: no metric of this run compares vectors.{hint}")
        return None
    if not is_endpoint((named or {}).get(word, word)):
        if idle is not None:
            raise UsageError(f"{idle!r} goes with an endpoint, and {word} is on this machine.")
        return None
    from ragassay.judges.judge_factory import address_of
    from ragassay.transport import secrets
    from ragassay.transport.providers import protocols

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
        return _endpoint(config, address, stack, asker, ledger, budget)

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
    from ragassay.models.embedders.embedder import DEFAULT, LocalEmbedder

    word = config.embedder
    weights = Weights.parse(word or DEFAULT)
    try:
        return models.use(LocalEmbedder, weights, config.embedder_prefix)
    except Unavailable as error:
        has_folder = weights.name in models.options.folders
        if isinstance(error, Unusable) or has_folder or word is None or Path(word).is_dir():
            raise
        raise error.saying(f"there is no folder {word} here, and {error}") from error


def spending_of(embedder: Embedder | None) -> Spending | None:
    """Counts and cost of embedding, for the summary; ``None`` where no text was embedded."""
    usage = None if embedder is None else embedder.usage
    if embedder is None or usage is None or not usage.questions:
        return None
    return Spending.of(embedder.label, embedder.identity, usage)


def _endpoint(
    config: RunConfig,
    address: Address,
    stack: ExitStack,
    asker: Asker | None,
    ledger: Ledger | None,
    budget: Budget | None,
) -> Embedder:
    from ragassay.judges.ledger.store import DEFAULT, Ledger
    from ragassay.models.embedders.embedding_endpoint import TEXTS, EndpointEmbedder
    from ragassay.transport.budget import Budget
    from ragassay.transport.endpoints.openai_embeddings import OpenAIEmbeddings
    from ragassay.transport.limits import MOST, Limiter
    from ragassay.transport.prices import price_of

    if ledger is None:
        ledger = stack.enter_context(Ledger(config.ledger or DEFAULT))
    if budget is None and config.budget is not None:
        budget = Budget.parse(config.budget)
    if asker is None:
        asker = stack.enter_context(Asker(OfflineJudge()))  # for its event loop
    timeout = TIMEOUT_S if config.timeout is None else config.timeout
    endpoint = OpenAIEmbeddings(address.url, address.key, timeout=timeout)
    endpoint.alias = address.alias
    embedder = EndpointEmbedder(
        endpoint,
        address.model,
        ledger=ledger,
        submit=asker.submit,
        label=address.label,
        identity=address.identity,
        dimensions=config.embedder_dimensions,
        prefix=config.embedder_prefix or "",
        limiter=Limiter(config.concurrency or MOST, rpm=config.rpm, tpm=config.tpm),
        budget=budget,
        price=price_of(address.model, address.url),
        timeout=timeout,
        batch=config.batch_size or TEXTS,
        renew=config.refresh,
    )
    stack.callback(embedder.close)  # before the ledger and the event loop end
    return embedder
