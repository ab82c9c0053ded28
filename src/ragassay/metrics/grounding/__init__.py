"""Whether an answer agrees with its passages or with facts: claims, HHEM."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
