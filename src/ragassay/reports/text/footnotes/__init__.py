"""The notes below the tables of a run or a comparison: how their numbers were computed."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
