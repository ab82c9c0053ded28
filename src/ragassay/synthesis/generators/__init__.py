"""Who writes queries and answers, and who checks them: rules, models, targets."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
