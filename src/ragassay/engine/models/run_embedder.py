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
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import UsageError, warn_user
from ragassay.engine.config.config_paths import make_absolute
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.models.modelling import by_cosine, embedding_among, model_options
from ragassay.engine.results.summary import Spending
from ragassay.judges.asking import Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.metrics.core.metric import Metric
from ragassay.models.embedders.embedder import Embedder
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import Unavailable, Unusable, Weights, is_path
from ragassay.transport.endpoints.endpoint import TIMEOUT_S

if TYPE_CHECKING:
    from ragassay.engine.run.judge_session import JudgeSession
    from ragassay.judges.judge_factory import Address

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

    Raises:
        UsageError: no such folder or provider, a missing key or package, impossible options.
        InputError: the key file cannot be read.
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


def is_endpoint(word: str) -> bool:
    """Whether a word names an endpoint; else it names a folder, or a model of the hub.

    Raises:
        UsageError: it looks like a folder, and there is none.
    """
    if re.match(r"https?://", word, re.IGNORECASE):
        return True
    if Path(word).is_dir():
        return False
    from ragassay.transport.providers import aliases, providers

    if is_path(word):
        raise UsageError(f"--embedder {word}: there is no such folder ({Path(word).absolute()}).")

    return ":" in word or word.casefold() in {*providers(), *aliases()}


def models_for(
    config: RunConfig,
    address: Address | None,
    stack: ExitStack,
    asker: Asker | None,
    session: JudgeSession | None,
) -> Models:
    """The models of a run, its embedder among them. Nothing is loaded or opened yet.

    Args:
        config: names the embedder and the options of models.
        address: of the embedding endpoint; ``None`` where the embedder is on this machine.
        stack: closes the embedder at its end.
        asker: on whose event loop an endpoint's requests are sent.
        session: whose ledger and budget they share.
    """

    def made(models: Models) -> Embedder:
        if address is None:
            return _local(models, config.embedder, config.embedder_prefix)
        return _endpoint(config, address, stack, asker, session)

    return Models(model_options(config), made)


def models_again(config: Mapping[str, Any], folder: Path | None) -> Models:
    """The models of a run that was kept, its embedder among them.

    Args:
        config: the content of its ``run.yaml``.
        folder: where paths in it start from; those of a run in memory are absolute.

    Vectors of an endpoint are not kept with a run, so nothing is computed from them again: such an
    embedder is `Unavailable`, and so is a folder that does not exist any more.
    """
    values = dict(config)
    if folder is not None:
        make_absolute(values, folder)
    word, prefix = values.get("embedder"), values.get("embedder_prefix")
    device, dtype, size = (values.get(key) for key in ("device", "dtype", "batch_size"))

    def made(models: Models) -> Embedder:
        try:
            remote = word is not None and is_endpoint(word)
        except UsageError as error:
            raise Unavailable(str(error)) from error
        if remote:
            raise Unavailable(f"the vectors of {word} are not kept with the run")
        return _local(models, word, prefix)

    return Models(ModelOptions(values.get("models") or {}, device, dtype, size), made)


def _local(models: Models, word: str | None, prefix: str | None) -> Embedder:
    """The embedder on this machine that a word names; the default one without it."""
    from ragassay.models.embedders.embedder import DEFAULT, LocalEmbedder

    weights = Weights.parse(word or DEFAULT)
    try:
        return models.use(LocalEmbedder, weights, prefix)
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
    session: JudgeSession | None,
) -> Embedder:
    from ragassay.judges.ledger.store import DEFAULT, Ledger
    from ragassay.models.embedders.embedding_endpoint import TEXTS, EndpointEmbedder
    from ragassay.transport.budget import Budget
    from ragassay.transport.endpoints.openai_embeddings import OpenAIEmbeddings
    from ragassay.transport.limits import MOST, Limiter
    from ragassay.transport.prices import price_of

    ledger = None if session is None else session.ledger
    budget = None if session is None else session.budget
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
