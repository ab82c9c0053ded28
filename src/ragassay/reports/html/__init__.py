"""Results as self-contained HTML pages."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
