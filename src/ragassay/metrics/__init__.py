"""What is measured: a package for each family. Pure arithmetic, no input or output, no globals.

The plain functions, for use without an evaluation, can be imported from here (docs/python.md).
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
