"""The judge that asks a language model: requests, replies, and what its endpoint can do."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
