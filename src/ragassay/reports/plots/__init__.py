"""Pictures for slides: box plots of result files beside each other, and two runs compared."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
