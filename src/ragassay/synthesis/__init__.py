"""Synthesis: from documents to items of a golden set, filtered and with their provenance."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
