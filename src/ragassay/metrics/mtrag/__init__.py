"""MT-RAG's metrics, and their conditioning on answers that say "I don't know"."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
