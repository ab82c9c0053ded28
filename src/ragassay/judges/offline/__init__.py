"""The embedded judge: deterministic, no model, no network.

It answers the built-in questions that text alone can answer, from overlap, structure and phrases,
and says ``unsupported`` to the rest. One file a kind of evidence; `rules` says which function
answers which question.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
