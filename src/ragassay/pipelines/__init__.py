"""Pipelines in UltraRAG's form: steps of MCP servers, which end in an evaluation."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
