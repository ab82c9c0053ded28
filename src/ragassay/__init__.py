"""Evaluate RAG systems, and say whether a difference is real.

>>> import ragassay
>>> result = ragassay.evaluate("answers.jsonl", "qa")      # doctest: +SKIP
>>> print(result.summary)                                   # doctest: +SKIP
"""

__version__ = "0.1.0"

import lazy_loader

from ragassay.base import display

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
display.found_by(lambda: __getattr__("reports"))
