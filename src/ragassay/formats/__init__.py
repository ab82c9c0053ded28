"""Readers and writers: every file format becomes `Sample`s.

`read` streams a file, `load` reads all of it into a list, `from_records` takes records in memory. A
format is one file, in this package or in one within it, that defines ``FORMAT``.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
