"""TREC's files: runs, judgements, and the answers of its RAG tracks."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
