"""Traces that tools for observation export: spans of one request become a sample."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
