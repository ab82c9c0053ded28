"""Rubrics and judge prompts of a user's own: what they are, and reading them from YAML."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
