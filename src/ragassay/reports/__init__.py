"""Every way to show a result: terminal, CSV, JSON lines, Parquet, Markdown, charts and HTML."""
