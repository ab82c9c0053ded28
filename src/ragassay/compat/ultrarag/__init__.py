"""UltraRAG's servers ``evaluation`` and ``benchmark`` as functions, and its pipelines: what a YAML
file says, where arguments come from, servers of MCP, steps."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
