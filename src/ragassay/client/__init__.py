"""Clients of the service: HTTP only, so that an application need not install a server."""
