"""What the pages of reports are made of: a folder a report, made once, on the machine that shows
it."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
