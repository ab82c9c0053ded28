"""Configuration files of Open RAG Eval (its page and its tool), translated into ours."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
