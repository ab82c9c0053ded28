"""Several runs of one query, compared with each other."""
