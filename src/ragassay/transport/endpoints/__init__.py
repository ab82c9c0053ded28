"""The protocols that judges are spoken to in: one file each, all behind `base.Endpoint`."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
