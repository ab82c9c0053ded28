"""Commands in the form of published tools: trec_eval, MT-RAG, UltraRAG, Open RAG Eval."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
