"""The system under test: what it is, how it is asked, what it answered."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
