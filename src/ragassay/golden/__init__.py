"""Golden sets: a folder of queries with references and gold spans, and their documents."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
