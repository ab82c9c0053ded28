"""Percentiles of a run and their differences, with intervals that assume no distribution."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
