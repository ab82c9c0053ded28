"""Intervals, paired tests and corrections. Arrays in, results out; it needs numpy only."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
