"""UltraRAG's servers ``evaluation`` and ``benchmark`` as functions, and how they take part in its
pipelines."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
