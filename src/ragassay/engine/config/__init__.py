"""The configuration of a run: its keys, files, environment, and what it selects."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
