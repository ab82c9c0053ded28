"""What one can ask: a file a family of questions."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
