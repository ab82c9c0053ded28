"""UMBRELA's relevance grades, and rankings by them."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
