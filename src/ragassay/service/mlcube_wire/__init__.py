"""ML cube's wire under ``/sdk/v1``: what its published client asks, answered by our store."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
