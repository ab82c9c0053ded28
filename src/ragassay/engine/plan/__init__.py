"""What a run will cost, before it starts."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
