"""What a metric is: its classes, names and parameters."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
