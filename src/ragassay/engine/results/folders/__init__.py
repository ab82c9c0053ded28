"""The folder of a run: what is written to it and read from it."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
