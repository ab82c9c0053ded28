"""Files of data: their bytes, text, lines, tables and JSON, with errors that say where."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
