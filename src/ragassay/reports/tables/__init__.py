"""Results as tables in files: CSV, Parquet, and the published tools' columns."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
