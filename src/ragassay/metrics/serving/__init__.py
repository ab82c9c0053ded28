"""Metrics of how a system served its queries: time, tokens, money, errors."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
