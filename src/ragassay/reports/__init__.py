"""Every way to show a result: terminal, Markdown, HTML, notebooks, tables (CSV, JSON lines,
Parquet, Excel), pictures, and files for CI (JUnit, GitHub)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
