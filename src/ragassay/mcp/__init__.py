"""MCP: ragassay's tools for agents and for UltraRAG's runner, and servers of one's own."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
