"""The command line: the thinnest possible skin. One file a command.

The files import what they need inside their functions, so that all of them load fast.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
