"""Recorded answers: verdicts as lines of a file, and the judge that repeats such a file."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
