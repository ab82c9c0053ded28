"""How requests travel: endpoints, pace and limits, retries, prices, keys.

Judges, embedders and systems under test use it.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
