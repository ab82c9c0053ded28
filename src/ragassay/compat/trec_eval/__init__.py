"""trec_eval's command: its flags and its printing."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
