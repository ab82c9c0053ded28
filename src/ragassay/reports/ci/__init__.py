"""Reports for continuous integration: JUnit XML, GitHub's annotations and step summary, a badge.
All show the same gates."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
