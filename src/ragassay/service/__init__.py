"""The service: a team logs what its RAG system does, and reads evaluation reports."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
