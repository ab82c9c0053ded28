"""How systems are asked: side by side, within a budget, and what came of it."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
