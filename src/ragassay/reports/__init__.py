"""Every way to show a result: terminal, Markdown, HTML, notebooks, tables (CSV, JSON lines,
Parquet, Excel), pictures, and files for CI (JUnit, GitHub, badge)."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
