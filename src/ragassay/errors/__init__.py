"""Errors that a user can mend, and what is wrong with data in words.

Each is shown as one sentence and never as a traceback (unless ``--debug`` asks for it).
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
