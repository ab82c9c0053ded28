"""Evaluate RAG systems, and say whether a difference is real.

>>> import ragassay
>>> result = ragassay.evaluate("answers.jsonl", "qa")      # doctest: +SKIP
>>> print(result.summary)                                   # doctest: +SKIP
"""

__version__ = "0.1.0"

import lazy_loader

from ragassay.base.note import draw_by

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
draw_by(lambda: __getattr__("reports"))
