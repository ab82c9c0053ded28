"""Every way to show a result: terminal, CSV, JSON lines, Parquet, Markdown, charts and HTML."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
