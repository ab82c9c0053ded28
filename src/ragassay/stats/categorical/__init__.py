"""Labels and counts: how far people agree, whether something happens more often than it should."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
