"""Named sets of metrics, most of them with the names and conventions of a published system.

A suite is one YAML file in this package; its keys are the fields of `Suite`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
