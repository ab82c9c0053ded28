"""How requests travel: endpoints, pace and limits, retries, prices, keys."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
