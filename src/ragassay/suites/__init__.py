"""Named sets of metrics, most of them with the names and conventions of a published system.

A suite is one YAML file in this package; its keys are the fields of `Suite`.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
