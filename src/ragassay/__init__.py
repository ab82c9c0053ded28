"""Evaluate RAG systems, and say whether a difference is real.

>>> import ragassay
>>> result = ragassay.evaluate("answers.jsonl", "qa")      # doctest: +SKIP
>>> print(result.summary)                                   # doctest: +SKIP
"""

from ragassay.exports import exports

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = exports(__name__)
