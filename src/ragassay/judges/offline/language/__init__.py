"""What the rules know of language: words, numbers, units, sentences, and their lists."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
