"""The REST interface of the service, under ``/api/v1``."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
