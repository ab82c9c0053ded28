"""Review of golden sets by people: the log of reviews, its page, sheets, agreement."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
