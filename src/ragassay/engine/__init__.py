"""Arranges the work: from samples and metrics to a result."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
