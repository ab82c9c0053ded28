"""Workers: they take jobs from the queue, and compute reports."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
