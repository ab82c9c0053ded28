"""Which models a run needs, whether they are here, and the run's embedder."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
