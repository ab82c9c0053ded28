"""Providers of models (``providers.yaml``): their protocols, addresses, variables for keys; and
what tokens cost: well known list prices (``prices.yaml``), or what the user says."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from ragassay.base import packages
from ragassay.base.errors import UsageError
from ragassay.transport.endpoints.endpoint import ApiProtocol
from ragassay.transport.secrets import Secret


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models: the base URL (empty: only the environment's ``url_variable`` knows it,
    and gets the ``suffix`` that it lacks), the variables that may hold the key (the first that is
    set counts), and what goes before a suite's default model (``None``: it has no such model)."""

    url: str
    keys: tuple[str, ...] = ()
    url_variable: str = ""
    suffix: str = ""
    key_needed: bool = True
    protocol: str = "openai"
    default: str | None = None


def speakers(protocol: str) -> dict[str, Any]:
    """Who speaks a protocol of ours: ``providers`` and ``aliases``, by name."""
    listed = packages.table("ragassay.transport", "providers.yaml")[protocol]
    every = {
        name: Provider(**{**provider, "keys": tuple(provider["keys"])}, protocol=protocol)
        for name, provider in listed["providers"].items()
    }
    return {"providers": every, "aliases": listed["aliases"]}


@cache
def protocols() -> Mapping[str, ApiProtocol]:
    """Every protocol by name: those of the files in ``endpoints/``, and of installed packages."""
    files = packages.modules(f"{__package__}.endpoints")
    ours = [value for file in files for value in getattr(file, "PROTOCOLS", ())]
    ours.sort(key=lambda value: value.name)
    every = [*ours, *packages.added("endpoints").values()]
    by_name = ((protocol.name, protocol) for protocol in every if isinstance(protocol, ApiProtocol))
    return packages.by_name("protocol", by_name)


@cache
def providers() -> Mapping[str, Provider]:
    """Every provider by name."""
    every = (item for each in protocols().values() for item in each.providers.items())
    return packages.by_name("provider", every)


@cache
def aliases() -> Mapping[str, str]:
    """Other names of providers, with the name that each means."""
    return {alias: name for each in protocols().values() for alias, name in each.aliases.items()}


OWN_KEY = "RAGASSAY_API_KEY"  # the variable for the key of an endpoint that is named by its URL
OWN_URL = "RAGASSAY_BASE_URL"  # which server that key is for: it is sent to no other


def own_key(url: str, environment: Mapping[str, str]) -> Secret | None:
    """The key of an endpoint that is named by its URL; ``None`` where its server has none."""
    key, server = (environment.get(name, "").strip() for name in (OWN_KEY, OWN_URL))
    if not key:
        return None
    if not server:
        raise UsageError(
            f"{OWN_KEY} is sent only to the server that {OWN_URL} names, and that is not set. "
            f"If the key is for this server: export {OWN_URL}={url}."
        )
    return Secret(key, OWN_KEY) if _origin(server) == _origin(url) else None


def _origin(url: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return parts.scheme, parts.hostname or "", port  # in small letters, both
    except ValueError:
        raise UsageError(f"{OWN_URL} is not a URL.") from None


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, finite and not negative."""

    input: float
    output: float

    def __post_init__(self) -> None:
        for value in (self.input, self.output):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"a price must be a finite number from 0 on, not {value}")

    @classmethod
    def parse(cls, text: str) -> Price:
        """``0.15,0.60``: dollars per million tokens, input and output; or a `UsageError`."""
        pieces = text.split(",")
        try:
            input_, output = (float(piece.strip().removeprefix("$")) for piece in pieces)
            return cls(input_, output)
        except ValueError:
            wanted = "two numbers, dollars per million input and output tokens, as in 0.15,0.60"
            raise UsageError(f"A price is {wanted}, not {text!r}.") from None

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """The cost in US dollars of the tokens of a request and its reply."""
        return (self.input * input_tokens + self.output * output_tokens) / 1e6

    def __str__(self) -> str:
        return f"{self.input:g},{self.output:g}"


FREE = Price(0.0, 0.0)  # of models that run on one's own machines


def price_of(model: str, endpoint: str = "") -> Price | None:
    """The list price of a model (``gpt-4o``, ``openai:gpt-4o``, ``models/gemini-2.5-flash``,
    ``URL#model``), or ``None`` where none is known. A dated version has the price of its model;
    nothing else is matched by how a name begins. A model on one's own machine or network is free,
    unless only its maker sells it: then the endpoint is a proxy."""
    if model.startswith(("http://", "https://")):
        endpoint, _, model = model.partition("#")
    bare = _MAKER.sub("", model.strip().casefold())
    if price := prices().get(bare) or prices().get(_VERSION.sub("", bare)):
        return price
    try:
        host = (urlsplit(endpoint).hostname or "").rstrip(".")
    except ValueError:
        return None
    try:
        address = ipaddress.ip_address(host)
        is_own = address.is_loopback or address.is_private or address.is_unspecified
    except ValueError:  # a name without a dot is a machine of one's own
        is_own = "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan"))
    return FREE if host and is_own else None


@cache
def prices() -> Mapping[str, Price]:
    """The list prices that are known, by model; `as_of` says of when they are."""
    listed = (maker for maker in _table().values() if isinstance(maker, dict))
    return {name: Price(*pair) for maker in listed for name, pair in maker.items()}


def as_of() -> str:
    """The day of the list prices, ``YYYY-MM-DD``."""
    return str(_table()["as_of"])


def _table() -> Any:
    return packages.table("ragassay.transport", "prices.yaml")


_MAKERS = "openai|anthropic|google|gemini|vertex_ai|models"
_MAKER = re.compile(rf"^(?:(?:{_MAKERS})[:/])+")
_VERSION = re.compile(r"(?:[-@]\d{4}-\d{2}-\d{2}|[-@]\d{8}|-(?:0[1-9]|1[0-2])\d{2}|-00\d|-latest)$")
