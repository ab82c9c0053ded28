"""MT-RAG's five steps over its record files."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
