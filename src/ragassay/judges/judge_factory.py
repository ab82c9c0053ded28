"""From the words of ``--judge`` to a judge.

=================================== ============================================================
``offline``                         the embedded judge
``offline:MODEL``                   the same, with a sentence encoder for relevance
``openai``                          the suite's published default model
``openai:gpt-5-mini``               a model of a provider (`ragassay.transport.Provider`)
``http://localhost:8000/v1#model``  any OpenAI-compatible endpoint
``replay:FILE``                     recorded answers, or the labels of people
=================================== ============================================================

Several words are a panel. In place of a word there may be an object in Python
(`ragassay.judges.python_judge`).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from ragassay.base import packages
from ragassay.base.errors import RagassayError, UsageError, did_you_mean
from ragassay.judges.judge import Judge
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge, Reuse
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.panel import Panel
from ragassay.judges.python_judge import PythonJudge, word_of
from ragassay.transport import Provider, secrets
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints.endpoint import SAMPLING, TIMEOUT_S
from ragassay.transport.providers_and_prices import (
    OWN_KEY,
    OWN_URL,
    Price,
    aliases,
    own_key,
    price_of,
    protocols,
    providers,
)
from ragassay.transport.secrets import Secret
from ragassay.transport.sending import MOST, Limiter
from ragassay.user_code.object_loading import PYTHON_WORD, has_module, load_object


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How the judges of a run are asked.

    Attributes:
        concurrency: requests in flight to one endpoint at most.
        rpm: requests a minute to one endpoint at most.
        tpm: tokens a minute to one endpoint at most.
        timeout: seconds until a question is given up, retries and repair included.
        temperature, top_p, presence_penalty, frequency_penalty, seed, max_tokens: sampling
            parameters in place of the questions' own.
        key_file: file that holds the key, in place of the environment.
        key_variable: environment variable that holds the key, in place of the provider's.
        price: of the model, in place of the list price: ``0.15,0.60``.
        quorum: votes that a panel's answer needs; more than half where left out.
        judge_name: of a judge in Python, in place of its own.
        reuse: what of the ledger counts: ``all``; ``answers`` (what failed is asked again);
            ``nothing``.
        language: of explanations by models; that of the query where left out.
        prompts: of the user's own, by kind of question, see `read_prompts`.
        dry: nothing will be sent, so no key is needed.
        encoder: gives the cosine of two texts, and the label, of a sentence encoder by its name.
        named: what names of an operator mean: outputs say the names only.
    """

    concurrency: int = MOST
    rpm: float | None = None
    tpm: float | None = None
    timeout: float = TIMEOUT_S
    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    key_file: str | os.PathLike[str] | None = None
    key_variable: str | None = None
    price: Price | str | None = None
    quorum: int | None = None
    judge_name: str | None = None
    reuse: Reuse = "all"
    language: str = ""
    prompts: Mapping[str, str] | None = None
    dry: bool = False
    encoder: Callable[[str], tuple[Callable[[str, str], float | None], str]] | None = None
    named: Mapping[str, str] = field(default_factory=dict)


_OURS = ("offline", "replay")  # judges that are neither models nor code

Role = Literal["judge", "embedder", "target"]
"""Who is named by a word: who answers questions, who turns texts into vectors, what is tested."""

_MODELS_OF = {"gpt": "openai", "claude-": "anthropic", "gemini-": "google"}
"""How the models of some providers are called."""


MakeJudge = Callable[[str, JudgeOptions], Judge]
"""Makes a judge of what follows the colon of its word, and the options."""


@cache
def kinds() -> Mapping[str, MakeJudge]:
    """The judges that are no model of a provider, by the word before the colon (in any case): ours,
    and those of installed packages. A `UsageError` where two have one name."""

    def offline(name: str, options: JudgeOptions) -> Judge:
        if not name:
            return OfflineJudge()
        if options.encoder is None:
            raise UsageError(
                f"No sentence encoders can be used here: write offline, not offline:{name}."
            )
        return OfflineJudge(*options.encoder(name))

    def replay(name: str, _: JudgeOptions) -> Judge:
        from ragassay.judges.replay import Replay

        return Replay(name)

    every: list[tuple[str, MakeJudge]] = [("offline", offline), ("replay", replay)]
    every += packages.added("judges").items()
    return packages.by_name("judge", ((name.casefold(), make) for name, make in every))


@dataclass(frozen=True, slots=True)
class Address:
    """Where a judge is, and which model is meant. ``url`` is without user, password and query;
    errors say ``alias`` in its place, where an operator named it, and signatures ``identity`` in
    place of the label."""

    label: str
    url: str
    model: str
    protocol: str
    key: Secret
    alias: str = ""
    identity: str = ""


def make_judge(
    words: Sequence[Any],
    *,
    default_model: str,
    ledger: Ledger,
    budget: Budget | None = None,
    options: JudgeOptions | None = None,
    environment: Mapping[str, str] | None = None,
) -> Judge:
    """The judge that the words (see the module) name; several words make a panel. ``default_model``
    is for a word that names only a provider; ``environment`` holds keys and addresses (the
    process's own where left out).

    Raises:
        UsageError: an unknown provider, a missing key, model or package, impossible options.
        InputError: a key file or recorded answers that cannot be read."""
    if not words:
        raise UsageError("No judge is named. 'offline' names the offline judge.")
    chosen, places = options or JudgeOptions(), os.environ if environment is None else environment
    limits: dict[str, Limiter] = {}
    if chosen.judge_name is not None:
        check_judge_name(words, chosen.judge_name)
    values = {name: getattr(chosen, name) for name in SAMPLING}
    parameters = {name: value for name, value in values.items() if value is not None}
    price = Price.parse(chosen.price) if isinstance(chosen.price, str) else chosen.price

    shared: dict[str, Any] = {
        "ledger": ledger,
        "budget": budget,
        "timeout": chosen.timeout,
        "reuse": chosen.reuse,
        "prompts": chosen.prompts,
    }
    judges: list[Judge] = []
    for word in words:
        limiter = Limiter(chosen.concurrency, rpm=chosen.rpm, tpm=chosen.tpm)
        if not isinstance(word, str):
            _refuse_settings(word, chosen, parameters)
            own = PythonJudge(word, chosen.judge_name, limiter=limiter, price=price, **shared)
            judges.append(own)
            continue
        word = word.strip()
        kind, _, name = chosen.named.get(word, word).partition(":")
        if kind.casefold() in kinds():
            with hidden_words("judge", word, chosen.named):
                judges.append(kinds()[kind.casefold()](name, chosen))
            continue
        names_key = chosen.dry or chosen.key_file is not None or chosen.key_variable is not None
        key = _key(word, chosen, places) if names_key else None  # its own
        address = address_of(word, default_model, places, key, named=chosen.named)
        protocol = protocols()[address.protocol]
        if not chosen.dry:  # who asks nothing needs no client
            protocol.check()
        endpoint = protocol.endpoint(address.url, address.key, timeout=chosen.timeout)
        endpoint.alias = address.alias
        asked = LLMJudge(
            endpoint,
            address.model,
            # The models of an endpoint share its pace. Breakers are not shared, because a wrong
            # model name says nothing about the other models.
            limiter=limits.setdefault(address.url, limiter),
            price=price_of(address.model, address.url) if price is None else price,
            parameters=parameters,
            label=address.label,
            identity=address.identity,
            language=chosen.language,
            **shared,
        )
        judges.append(asked)
    return judges[0] if len(judges) == 1 else Panel(judges, chosen.quorum)


def named_judges(judge: Any, *, typed: bool = True) -> list[Any]:
    """The judges that somebody named who may run code here: a word or an object, or several. Words
    of the form ``module:function`` become the objects that they name, unless the first part is a
    provider's name; a `UsageError` where there is no such object. ``typed`` is as of
    `load_object`."""
    if judge is None:
        return []
    listed = judge if isinstance(judge, list | tuple) else [judge]
    # A misspelt provider has the same form: where there is no such module, the word stays.
    return [
        load_object(value, "judge", typed=typed)
        if names_object(value) and has_module(value)
        else value
        for value in listed
    ]


def names_object(word: Any) -> bool:
    """Whether a judge's word means ``module:function``."""
    if not isinstance(word, str) or not PYTHON_WORD.fullmatch(word):
        return False
    first = word.strip().partition(":")[0].casefold()
    return first not in {*_OURS, *packages.added("judges"), *providers(), *aliases()}


def check_judge_name(judges: Sequence[Any], name: str) -> None:
    """A `UsageError` for a name that is not for exactly one judge in Python."""
    n = sum(not isinstance(judge, str) for judge in judges)
    if n != 1:
        problem = "there is none here" if n == 0 else f"there are {n} here"
        raise UsageError(
            f"--judge-name (judge_name={name!r}) names one judge in Python (a function, "
            f"module:function, a chat model), and {problem}."
        )


def _refuse_settings(judge: Any, options: JudgeOptions, parameters: Iterable[str]) -> None:
    """Refuses settings that only an endpoint takes."""
    keys = ("key_file", "key_variable")
    names = ["judge_seed" if name == "seed" else name for name in parameters]
    names += [name for name in keys if getattr(options, name) is not None]
    if names:
        flag = f"--{names[0].replace('_', '-')} ({names[0]}=...)"
        raise UsageError(
            f"{flag} is for models at endpoints; the judge {word_of(judge)} is an object in "
            "Python, which is given the prompt only. Set it where you make the object."
        )


def _key(word: str, options: JudgeOptions, environment: Mapping[str, str]) -> Secret | None:
    """The key that the options name; ``None`` where that is the judge's own."""
    if options.dry:
        return secrets.NO_KEY
    if options.key_file is not None:
        return secrets.from_file(str(options.key_file))
    if options.key_variable is None or options.key_variable == OWN_KEY:
        return None
    owner = next(
        (n for n, provider in providers().items() if options.key_variable in provider.keys), None
    )
    name = word.partition(":")[0].strip().casefold()
    if owner is not None and owner != aliases().get(name, name):
        there = providers()[owner].url
        if not there or not word.startswith(f"{there}#"):
            raise UsageError(
                f"{options.key_variable} is sent only to {owner}. For {_masked(word)} set "
                f"{OWN_KEY} and {OWN_URL}, or name a file that holds its key with --key-file."
            )
    key = secrets.from_environment([options.key_variable], environment)
    if key is None:
        raise UsageError(
            f"The key of the judge {_masked(word)} is read from the environment "
            f"variable {_masked(options.key_variable)}, which is not set."
        )
    return key


def address_of(
    word: str,
    default_model: str,
    environment: Mapping[str, str],
    key: Secret | None = None,
    role: Role = "judge",
    named: Mapping[str, str] | None = None,
) -> Address:
    """The address of the judge that a word names, as ``openai``, ``openai:gpt-4o``, ``URL#model``;
    raises as `make_judge`. ``key`` comes before the environment's. Where the word is one of
    ``named`` (by an operator), outputs say that only; a hash of the model in the signature tells
    what it meant."""
    if named and word in named:
        with hidden_words(role, word, named):
            found = address_of(named[word], default_model, environment, key, role)
        own = hashlib.sha256(found.model.encode()).hexdigest()[:8]
        identity = "" if found.label == word else f"{word}#{own}"
        key = found.key.of(word)
        return replace(found, label=word, key=key, alias=word, identity=identity)
    option = "embedder_key_file" if role == "embedder" else "key_file"
    key_flag = f"--{option.replace('_', '-')} ({option}=...)"
    if re.match(r"https?://", word, re.IGNORECASE):
        url, _, model = word.partition("#")
        url = _checked(url, role)
        if not model:
            raise UsageError(
                f"Which model of {url}? Name it behind the URL, as in {url}#model "
                f"(a list of models may be at {url}/models)."
            )
        secret = own_key(url, environment) if key is None else key
        secret = secret or Secret("", f"{OWN_KEY} and {OWN_URL}, or name a file with {key_flag}")
        return Address(f"{url}#{model}", url, model, "openai", secret)
    name, _, model = word.partition(":")
    name = name.strip().casefold()
    name = aliases().get(name, name)
    provider = providers().get(name)
    if provider is None:
        others = ["FOLDER", "ORGANISATION/MODEL"]
        if role == "judge":
            others = ["offline", "replay:FILE", *packages.added("judges")]
        names = [*providers(), *aliases(), *(other.partition(":")[0] for other in others)]
        makers = (m for start, m in _MODELS_OF.items() if word.casefold().startswith(start))
        meant = did_you_mean(word if word in names else name, names)
        hint = next((f"Did you mean '{maker}:{word}'?" for maker in makers), meant)
        if role == "judge" and names_object(word):
            others.append("module:function (if a person names it and the module is there)")
            hint = hint or f"If you mean your own function: there is no module {name} here."
        raise UsageError(
            f"No {role} is called {_masked(word)!r}. {hint} There are: {', '.join(others)}, "
            f"URL#model, and PROVIDER:MODEL with one of {', '.join(providers())}."
        )
    if not model.strip() and provider.default is None:
        raise UsageError(f"Which model of {name}? Name it, as in {name}:MODEL.")
    model = model.strip() or f"{provider.default}{default_model}"
    url = _url(name, provider, environment)
    secret = secrets.from_environment(provider.keys, environment) if key is None else key
    if secret is None and provider.key_needed:
        raise UsageError(
            f"The {role} {name}:{model} needs a key: set {' or '.join(provider.keys)}, or name a "
            f"file that holds it with {key_flag}."
        )
    secret = secret or Secret("", f"{' or '.join(provider.keys)}, or name a file with {key_flag}")
    return Address(f"{name}:{model}", url, model, provider.protocol, secret)


@contextmanager
def hidden_words(role: Role, word: str, named: Mapping[str, str]) -> Iterator[None]:
    """Errors do not say what the name of an operator means: a `UsageError` says that it cannot
    be used, and the operator is to be asked."""
    try:
        yield
    except RagassayError as error:
        if word not in named:
            raise
        problem = f"The {role} {word} cannot be used now. Ask the operator, who named it."
        raise UsageError(problem) from error


def _url(name: str, provider: Provider, environment: Mapping[str, str]) -> str:
    variable = provider.url_variable
    address = environment.get(variable, "").strip()
    if not address:
        if not provider.url:
            raise UsageError(
                f"The judge {name} needs an address: set {variable} to the URL of its server."
            )
        return provider.url
    if "://" not in address:
        address = f"http://{address}"  # OLLAMA_HOST has the form host:port
    url = _checked(address, "judge", variable)
    if provider.suffix and not url.endswith(provider.suffix):
        url += provider.suffix
    return url


def _checked(url: str, role: Role, variable: str = "") -> str:
    """A URL without a final slash. Messages name the variable that it was read from; else they
    quote it."""
    problem = ""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        if parts.scheme not in ("http", "https") or not host:
            problem = "is not a URL that begins with http:// or https://."
        elif parts.username is not None or parts.password is not None or parts.query:
            problem = "must not hold a user, password or query, because reports show it. "
            problem += f"Set {OWN_KEY}, or name a file that holds the key with --key-file."
    except ValueError:
        problem = "is not a URL."
    if problem:
        name = variable or f"The {role}'s URL {_masked(url)!r}"
        raise UsageError(f"{name} {problem}")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def _masked(text: str) -> str:
    """The text without what may be a secret."""
    text = re.sub(r"//[^/@]*@", "//...@", text)
    text = re.sub(r"\?.*", "?...", text)
    # Somebody may have put the key where the judge belongs.
    return re.sub(r"(?<![\w./-])[A-Za-z0-9_-]{24,}(?![\w./-])", "...", text)
