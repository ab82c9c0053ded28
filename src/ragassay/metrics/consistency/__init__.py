"""How alike several runs of one query are."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
