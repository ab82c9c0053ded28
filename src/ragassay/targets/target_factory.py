"""From the words of ``--target`` (see docs/ask.md), with ``NAME=`` before them, to a target."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.judges.judge_factory import address_of
from ragassay.targets.command_target import CommandTarget
from ragassay.targets.http_api.http_mapping import preset, read_mapping, unset
from ragassay.targets.http_api.http_target import HttpTarget, lacks_package
from ragassay.targets.python_target import PythonTarget
from ragassay.targets.target import Target
from ragassay.transport import secrets
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints.endpoint import TIMEOUT_S
from ragassay.transport.providers_and_prices import aliases, price_of, providers
from ragassay.user_code.object_loading import PYTHON_WORD, load_object

_NAMED = re.compile(r"(?P<name>[\w.-]+)=(?P<word>.+)", re.DOTALL)
_FORMS = (
    "A target is module:function, a mapping file (.yaml), URL#model, PROVIDER:MODEL, "
    "mcp:COMMAND_OR_URL#tool, vectara:CORPUS or command:PROGRAM."
)


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How systems are asked: each query ``repeat`` times, with ``concurrency`` requests in flight
    over all systems and ``rpm`` a minute to one; ``timeout`` in seconds for a query with its
    ``retries`` and the waits between them; ``history``: earlier turns as ``given``, or with the
    system's ``own`` answers; ``refresh`` asks again what was answered before; ``stream`` and
    ``key_file`` are for OpenAI-compatible chats; ``budget``: dollars, calls or tokens (``"5.00"``,
    ``"200 calls"``, ``"2M tokens"``) over all systems, of this run; ``gold_passages`` to answer
    from, in place of the system's retrieval."""

    repeat: int = 1
    concurrency: int = 8
    rpm: float | None = None
    timeout: float = TIMEOUT_S
    retries: int = 2
    history: str = "given"
    refresh: bool = False
    stream: bool = False
    key_file: str | os.PathLike[str] | None = None
    gold_passages: bool = False
    budget: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("repeat", 1), ("concurrency", 1), ("retries", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be at least {least}.")
        if not self.timeout > 0:
            raise UsageError(f"timeout is {self.timeout}; it must be greater than 0.")
        if self.history not in ("given", "own"):
            raise UsageError(f"history is {self.history!r}; choose given or own.")
        if self.budget is not None:
            Budget.parse(self.budget)  # what is wrong in it shows before anything is asked


def make_targets(target: Any, options: AskOptions) -> list[Target]:
    """The targets of words (see the module), Python objects, targets, a list of these, or a mapping
    that names them. What cannot be made is a `UsageError`, or an `InputError` of a file."""
    several = target if isinstance(target, list | tuple) else [target]
    pairs = target.items() if isinstance(target, Mapping) else ((None, item) for item in several)
    targets: dict[str, Target] = {}
    for name, value in pairs:
        made = _made(value, options, None if name is None else str(name))
        if made.name in targets:  # answers of different systems differ in this name
            way = f"'NAME={_parted(value)[1]}'" if isinstance(value, str) else "{NAME: target, ...}"
            raise UsageError(f"Two targets are called {made.name!r}. Rename one of them: {way}.")
        targets[made.name] = made
    if not targets:
        raise UsageError(f"No target is named. {_FORMS}")
    return list(targets.values())


def starting_mapping(url: str) -> str:
    """A mapping file to start from, for an endpoint of any kind."""
    return (
        f"url: {url}\n"
        'body: {question: "{{query}}"}\n'
        "answer: answer\n"
        "passages: passages\n"
        "passage: {id: id, text: text}\n"
    )


def _parted(word: str) -> tuple[str | None, str]:
    """The name before a word, and the word."""
    word = word.strip()
    match = _NAMED.fullmatch(word)
    if match is None or Path(word).is_file():
        return None, word
    return match["name"], match["word"]


def _made(target: Any, options: AskOptions, name: str | None) -> Target:
    """The target of an object or of words."""
    if isinstance(target, Target):
        return target
    if isinstance(target, os.PathLike):
        return _of_file(Path(target), name)
    if not isinstance(target, str):
        return PythonTarget(target, name)
    own, word = _parted(target)
    name = name or own
    kind, _, rest = word.partition(":")
    if kind == "command":
        return CommandTarget(rest, name)
    if kind == "mcp":
        from ragassay.targets.mcp_target import McpTarget

        return McpTarget(rest, options.timeout, name)
    if kind == "vectara":
        return _vectara(rest, name)
    is_url = re.match(r"https?://", word, re.IGNORECASE) is not None
    if is_url and "#" not in word:
        raise UsageError(
            f"How is {word} asked? An OpenAI-compatible chat is URL#MODEL. Any other endpoint "
            "needs a mapping file. --init writes this as mapping.yaml:\n"
            f"{starting_mapping(word)}Replace the names with those of your endpoint (docs/ask.md). "
            f"{lacks_package()}"
        )
    if not is_url and word.casefold().endswith((".yaml", ".yml")):
        return _of_file(Path(word), name)
    if is_url or (kind.casefold() in {*providers(), *aliases()} and rest):
        return _chat(word, options, name)
    if PYTHON_WORD.fullmatch(word):
        return PythonTarget(load_object(word, "target"), name, word)
    kinds = ["command", "mcp", "vectara", *providers()]
    raise UsageError(f"No target is called {word!r}. {did_you_mean(kind, kinds)} {_FORMS}")


def _of_file(path: Path, name: str | None) -> Target:
    mapping = read_mapping(path)
    return HttpTarget(name or mapping.name or path.stem, mapping, str(path))


def _vectara(corpus: str, name: str | None) -> Target:
    if not re.fullmatch(r"[\w.-]+", corpus):
        raise UsageError("Which corpus? Name its key: vectara:CORPUS_KEY.")
    mapping = preset("vectara", corpus=corpus)
    for variable in unset(mapping.headers["x-api-key"]):
        raise UsageError(f"The target vectara:{corpus} needs a key: set {variable}.")
    return HttpTarget(name or corpus, mapping, f"vectara:{corpus}")


def _chat(word: str, options: AskOptions, name: str | None) -> Target:
    key = None if options.key_file is None else secrets.from_file(str(options.key_file))
    address = address_of(word, "", os.environ, key, role="target")
    if address.protocol != "openai":
        do = "Name its OpenAI-compatible endpoint as URL#MODEL, or write a mapping file."
        raise UsageError(f"The target {word} speaks the protocol {address.protocol}. {do}")
    api = "openai-stream" if options.stream else "openai"
    return HttpTarget(
        name or address.model,
        preset(api, url=address.url, model=address.model),
        f"--target {address.label}",
        key=address.key,
        # What runs at an address of one's own may pay for more than its model: nobody knows.
        price=price_of(address.model),
    )
