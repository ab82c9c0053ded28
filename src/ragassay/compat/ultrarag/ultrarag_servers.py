"""The tools and the default parameters of UltraRAG's servers ``benchmark`` and ``evaluation``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from ragassay.yaml_files import value_of

_FILE = resources.files("ragassay.compat.ultrarag").joinpath("ultrarag_servers.yaml")
_SERVERS: Mapping[str, Any] = value_of(_FILE.read_text("utf-8"), _FILE)

FLOWS: Mapping[str, Mapping[str, str]] = {name: one["tools"] for name, one in _SERVERS.items()}
"""For each server its tools, with what they take and give."""

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    name: one["parameters"] for name, one in _SERVERS.items()
}
"""For each server its parameters, with the values that its ``parameter.yaml`` has."""
