"""Evaluation inside a test suite: an assertion on one sample, and pytest's plugin, whose fixture
gates all samples of a session."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
