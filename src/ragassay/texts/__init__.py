"""What a word, a language and the name of a document are, for all that compares texts."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
