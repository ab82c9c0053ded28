"""Checks of golden sets that need metrics and a judge."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
