"""Readers and writers: every file format becomes `Sample`s.

`read` streams a file, `load` reads all of it into a list, `from_records` takes records in memory. A
format is one file, in this package or in one within it, that defines ``FORMAT``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
