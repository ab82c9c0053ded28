"""Systems that are reached by HTTP: how they are asked, and where their replies hold what."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
