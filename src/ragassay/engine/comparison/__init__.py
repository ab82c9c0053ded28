"""Two runs on the same queries: what may be compared, gates, and the verdict."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
