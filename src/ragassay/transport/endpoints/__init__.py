"""The protocols of endpoints: one file each, all with the interface of `Endpoint`."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
