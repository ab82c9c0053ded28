"""UltraRAG's servers ``evaluation`` and ``benchmark`` as functions, and how they take part in its
pipelines."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
