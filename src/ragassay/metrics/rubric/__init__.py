"""Metrics by a rubric: a user's own, and ML cube's report."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
