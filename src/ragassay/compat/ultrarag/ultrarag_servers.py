"""The tools and the default parameters of UltraRAG's servers ``benchmark`` and ``evaluation``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.base import package_files

_SERVERS: Mapping[str, Any] = package_files.table(__package__, "ultrarag_servers.yaml")

FLOWS: Mapping[str, Mapping[str, str]] = {name: one["tools"] for name, one in _SERVERS.items()}
"""For each server its tools, with what they take and give."""

PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    name: one["parameters"] for name, one in _SERVERS.items()
}
"""For each server its parameters, with the values that its ``parameter.yaml`` has."""
