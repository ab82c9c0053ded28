"""Metrics of an answer beside reference answers."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
