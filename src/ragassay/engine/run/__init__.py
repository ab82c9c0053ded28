"""One run: from the source through windows of samples to scores."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
