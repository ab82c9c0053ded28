"""What a word, a sentence and a language are, for all that compares texts."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
