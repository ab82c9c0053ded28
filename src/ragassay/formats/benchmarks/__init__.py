"""Files of published benchmarks and evaluators, one reader a format."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
