"""One record of a file: how it is read, what its fields mean, and the sample that they make."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
