"""Golden sets from files of other tools, and in their formats."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
