"""A user's own code: found by ``module:name``, called, and told apart by its files."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
