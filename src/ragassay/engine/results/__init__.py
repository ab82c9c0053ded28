"""What a run leaves: scores, summary, verdicts, and its folder."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
