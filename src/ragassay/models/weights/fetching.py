"""Downloading a model, which happens only on a user's command: configuration, tokenizer, and the
weights once, as safetensors where there are any; no code."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ragassay.base.errors import UsageError, first_line
from ragassay.base.printable import plural
from ragassay.models.weights.weight_files import (
    CONFIG,
    WEIGHT_FILES,
    Unavailable,
    Weights,
    facts,
    folder_of,
    place_of,
)
from ragassay.transport.endpoints.endpoint_errors import causes

TOKENIZERS = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.json", "vocab.txt", "merges.txt", "bpe.codes", "tokenizer.model"),
    *("spiece.model", "spm.model", "sentencepiece.bpe.model"),
)
_CONFIGS = ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json")
_MODULE = re.compile(r"\d+_\w+/")  # a step of a sentence-transformers model, a folder of its own
_INDEX = ".index.json"  # how a file ends that lists several with the weights


@dataclass(frozen=True)
class Fetched:
    """A model that is now on this machine."""

    weights: Weights
    folder: Path
    files: dict[str, int]


def needed(names: Iterable[str], *, tokenizer: bool = False) -> list[str]:
    """The files of a repository that a model needs: weights once, and no code."""
    available = sorted(names)
    chosen = [name for name in available if name in TOKENIZERS or name == CONFIG]
    if tokenizer:
        return chosen
    chosen += [name for name in available if name in _CONFIGS]
    chosen += _weights([name for name in available if "/" not in name])
    modules = sorted({match[0] for name in available if (match := _MODULE.match(name))})
    for module in modules:
        inside = {name.removeprefix(module): name for name in available if name.startswith(module)}
        chosen += [inside[name] for name in (CONFIG, *_weights(inside)) if name in inside]
    return chosen


def _weights(names: Iterable[str]) -> list[str]:
    """The files of the first form of weights in a repository."""
    available = list(names)
    first = next((name for name in WEIGHT_FILES if name in available), "")
    if not first.endswith(_INDEX):
        return [first] if first else []
    stem, _, kind = first.removesuffix(_INDEX).partition(".")
    return [first, *fnmatch.filter(available, f"{stem}-*-of-*.{kind}")]


def fetch(
    weights: Weights,
    folder: Path | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
) -> list[Fetched]:
    """Downloads a model, and what it needs of others, into the hub's cache or a ``folder``; gives
    the model first. What is on this machine already is not downloaded again, and the hub's own
    settings count (``HF_HOME``, ``HF_TOKEN``, ``HF_ENDPOINT``, ``HF_HUB_OFFLINE``). ``notify`` is
    called with a sentence before each download.

    A `UsageError` for no package, no network, no such model or commit, or no right to have it."""
    if find_spec("huggingface_hub") is None:
        raise UsageError("Fetching needs huggingface_hub: pip install 'ragassay[models]'.")
    from huggingface_hub.constants import is_offline_mode

    model_facts = facts(weights)
    if is_offline_mode():
        fetched = [_local_copy(weights, model_facts.tokenizer, folder)]
    else:
        fetched = [_download(weights, folder, notify, tokenizer=model_facts.tokenizer)]
    for name in model_facts.companions:
        other = Weights.parse(name)
        if folder is None:
            fetched += fetch(other, None, notify)
        elif not is_offline_mode():
            # Beside the weights only the tokenizer has a place: the configuration is the model's.
            fetched.append(_download(other, folder, notify, tokenizer=True, beside=True))
    return fetched


def _local_copy(weights: Weights, tokenizer: bool, folder: Path | None) -> Fetched:
    """The model on this machine, where the hub may not be asked."""
    try:
        folders = {} if folder is None else {weights.name: str(folder)}
        place = (place_of if tokenizer else folder_of)(weights, folders)
    except Unavailable as error:
        raise UsageError(
            f"{weights} is not here, and HF_HUB_OFFLINE forbids fetching it. Unset it, or fetch on "
            "another machine with --output FOLDER, copy the folder, and name it with "
            f"--model {weights.name}=FOLDER."
        ) from error
    return Fetched(weights, place, {})


def _download(
    weights: Weights,
    folder: Path | None,
    notify: Callable[[str], None],
    *,
    tokenizer: bool,
    beside: bool = False,
) -> Fetched:
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HFValidationError

    try:
        info = HfApi().model_info(
            weights.name, revision=weights.revision or None, files_metadata=True
        )
        sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or ()}
        names = needed(sizes, tokenizer=tokenizer)
        if beside:
            names = [name for name in names if name in TOKENIZERS]
        if not names or not (tokenizer or _weights(names)):
            raise UsageError(
                f"{weights.name} holds no {'tokenizer' if tokenizer else 'weights'} that could be "
                f"read; it has {', '.join(sorted(sizes)[:8]) or 'no files'}."
            )
        pinned = Weights(weights.name, info.sha or weights.revision)
        size = sum(sizes[name] for name in names)
        notify(f"{pinned}: {plural(len(names), 'file')}, {readable(size)}")
        place = snapshot_download(
            weights.name,
            revision=pinned.revision,
            allow_patterns=names,
            local_dir=None if folder is None else str(folder),
        )
    except HFValidationError as error:
        problem = f"{weights.name!r} is not the name of a model on the hub, which is OWNER/NAME."
        raise UsageError(problem) from error
    except Exception as error:
        raise _explained(error, weights) from error
    return Fetched(pinned, Path(place), {name: sizes[name] for name in names})


def _explained(error: Exception, weights: Weights) -> Exception:
    """A failure of the download as one sentence; another error as it is."""
    from huggingface_hub import constants, errors

    if isinstance(error, UsageError):
        return error
    at = os.environ.get("HF_ENDPOINT") or constants.ENDPOINT
    problem, name = first_line(error).rstrip("."), weights.name
    if isinstance(error, errors.GatedRepoError):
        terms = "is given only to people who agreed to its terms: do so on its page"
        return UsageError(f"{name} {terms} and set HF_TOKEN.")
    if isinstance(error, errors.RepositoryNotFoundError):
        why = "or it is private: check the name, or set HF_TOKEN"
        return UsageError(f"There is no model {name!r} at {at}, {why}.")
    if isinstance(error, errors.RevisionNotFoundError):
        return UsageError(f"{name} has no commit {weights.revision!r} at {at}.")
    if isinstance(error, errors.HfHubHTTPError):
        return UsageError(f"{at} did not give {weights}: {problem}.")
    clients = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")
    if any(
        isinstance(cause, ConnectionError | TimeoutError)
        or type(cause).__module__.split(".")[0] in clients
        for cause in causes(error)
    ):
        return UsageError(
            f"{at} cannot be reached ({problem}). Try again with a network, or copy the model's "
            f"folder from another machine and name it with --model {name}=FOLDER."
        )
    if isinstance(error, OSError):
        return UsageError(f"{weights} could not be written: {problem}.")
    return error


def readable(size: int) -> str:
    """A size in bytes in the usual unit: 439 MB."""
    if size < 1_000_000:
        return f"{max(1, round(size / 1000))} kB"
    return f"{size / 1e6:,.0f} MB" if size < 1e9 else f"{size / 1e9:,.2f} GB"
