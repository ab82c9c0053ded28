"""MCP: ragassay's tools for agents and for UltraRAG's runner, and servers of one's own."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
