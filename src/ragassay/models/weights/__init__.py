"""Where a model's weights are, and how they come to this machine."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
