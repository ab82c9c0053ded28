"""Evaluation inside a test suite: an assertion on one sample, and pytest's plugin, whose fixture
gates all samples of a session. pytest itself is imported by the plugin alone."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
