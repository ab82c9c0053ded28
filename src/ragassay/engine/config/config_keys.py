"""Refuses API keys in configuration files, because files are shared and kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ragassay.engine.config.environment import only_reference
from ragassay.yaml_files import Marked, Place

_NAMED = re.compile(r"(?:^|_)(?:api_?key|(?:access|auth|hf|api)_token|password|secret)$", re.I)


def is_for_a_key(place: Place) -> bool:
    """Whether a place is one where people write keys."""
    return bool(place) and _NAMED.search(place[-1].replace("-", "_")) is not None


def refuse_keys(content: Marked) -> None:
    """Refuses an API key that is written out. A reference to the environment is allowed.

    Args:
        content: the file's content, with its lines.

    Raises:
        InputError: an API key is written out; the error has the line and the field, not the key.
    """
    for place, value in _scalars(content.value):
        if is_for_a_key(place) and value not in (None, ""):
            variable_of(value, content, place)


def variable_of(value: Any, content: Marked, place: Place) -> str | None:
    """The environment variable that an API key is to be read from; ``None`` where the value is
    empty.

    Args:
        value: what the file has at the place.
        content: the file's content, with its lines.
        place: of the value.

    Raises:
        InputError: the API key itself stands in the file.
    """
    if value in (None, ""):
        return None
    one = only_reference(value) if isinstance(value, str) else None
    if one is not None and one["default"] in (None, "", "null"):
        return one["name"]
    raise content.wrong(
        place,
        "a key must not stand in the file",
        "Write ${oc.env:NAME} and set that environment variable, or keep the key in a file of "
        "its own (--key-file). For a server that needs none, leave it out.",
    )


def _scalars(value: Any) -> Iterator[tuple[Place, Any]]:
    """Every scalar with its place."""
    seen: set[int] = set()
    waiting: list[tuple[Place, Any]] = [((), value)]
    while waiting:
        place, one = waiting.pop()
        if isinstance(one, dict | list):
            if id(one) in seen:
                continue
            seen.add(id(one))
            pairs = one.items() if isinstance(one, dict) else enumerate(one)
            waiting += [((*place, str(key)), inner) for key, inner in pairs]
        else:
            yield place, one
