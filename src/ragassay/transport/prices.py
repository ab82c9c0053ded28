"""What tokens cost: well known list prices, or what the user says."""

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
    price = prices().get(bare) or prices().get(_VERSION.sub("", bare))
    return price or (FREE if endpoint and is_local(endpoint) else None)


def is_local(endpoint: str) -> bool:
    """Whether a URL is of this machine or a private network, whose tokens cost nothing."""
    try:
        host = (urlsplit(endpoint).hostname or "").rstrip(".").casefold()
    except ValueError:
        return False
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal", ".lan")):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and "." not in host  # a name without a dot is a machine of one's own
    return address.is_loopback or address.is_private or address.is_unspecified


@cache
def prices() -> Mapping[str, Price]:
    """The list prices that are known, by model; `as_of` says of when they are."""
    listed = (maker for maker in _table().values() if isinstance(maker, dict))
    return {name: Price(*pair) for maker in listed for name, pair in maker.items()}


def as_of() -> str:
    """The day of the list prices, ``YYYY-MM-DD``."""
    return str(_table()["as_of"])


@cache
def _table() -> Any:
    return packages.table("ragassay.transport", "prices.yaml")


_MAKERS = "openai|anthropic|google|gemini|vertex_ai|models"
_MAKER = re.compile(rf"^(?:(?:{_MAKERS})[:/])+")
_VERSION = re.compile(r"(?:[-@]\d{4}-\d{2}-\d{2}|[-@]\d{8}|-(?:0[1-9]|1[0-2])\d{2}|-00\d|-latest)$")
