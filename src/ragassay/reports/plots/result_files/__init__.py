"""Result files and run folders as series of a picture: who wrote a file, and what it holds."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
