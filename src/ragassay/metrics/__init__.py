"""What is measured: a package for each family. Pure arithmetic, no input or output, no globals.

The plain functions, for use without an evaluation, can be imported from here (docs/python.md).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
