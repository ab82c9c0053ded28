"""Named sets of metrics with the names and conventions of a published system.

A suite is one file in this package that defines ``SUITE``.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
