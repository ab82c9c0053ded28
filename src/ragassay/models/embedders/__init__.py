"""Embedders of texts: from a folder, an endpoint or a file of vectors."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
