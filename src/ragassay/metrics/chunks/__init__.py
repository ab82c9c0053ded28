"""Metrics of retrieved chunks beside expected chunks or character spans."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
