"""Citations: reading them from an answer, and whether they support what they are cited for."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
