"""Golden sets: a folder of queries with references and gold spans, and their documents."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
