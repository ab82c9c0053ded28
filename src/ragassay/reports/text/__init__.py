"""Results as text: terminal, Markdown, and the sentences below the tables."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
