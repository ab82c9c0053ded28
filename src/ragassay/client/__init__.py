"""Clients of the service: HTTP only, so that an application need not install a server."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
