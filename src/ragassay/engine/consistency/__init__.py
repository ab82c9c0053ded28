"""Several runs of one query, compared with each other."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
