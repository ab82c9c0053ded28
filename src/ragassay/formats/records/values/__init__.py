"""From a value in a file to a part of a sample: texts, numbers, passages, answers, messages."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
