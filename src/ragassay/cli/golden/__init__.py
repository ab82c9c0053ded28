"""The commands of ``ragassay golden``, a file a command."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
