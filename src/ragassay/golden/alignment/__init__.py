"""Finds in documents: spans that were edited, chunks of systems, and texts that are to be gold."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
