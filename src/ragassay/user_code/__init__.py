"""A user's own code: found by ``module:name``, called, and identified by its files."""
