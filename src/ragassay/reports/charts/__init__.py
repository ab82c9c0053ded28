"""Charts of one run or one comparison."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
