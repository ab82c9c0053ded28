"""Metrics of rankings beside relevance judgements (trec_eval's, and those that it lacks)."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
