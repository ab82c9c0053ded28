"""Two runs on the same queries: what may be compared, gates, and the verdict."""
