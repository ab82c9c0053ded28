"""The web pages of the service."""
