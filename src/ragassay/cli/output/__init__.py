"""What a command shows and how it ends: printed lines, tables and JSON, progress, signals, logs."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
