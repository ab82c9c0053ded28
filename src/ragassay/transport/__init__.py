"""How requests travel: endpoints, pace and limits, retries, prices, keys.

Judges and embedders stand on it.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
