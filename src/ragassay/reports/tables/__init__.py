"""Results as tables in files: CSV, Parquet, and the published tools' columns."""
