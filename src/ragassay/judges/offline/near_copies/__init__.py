"""Sentences that are nearly the same: where one says another thing than the other."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
