"""Why samples fail, told from the scores of a run; and which kinds of failure a change moved."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
