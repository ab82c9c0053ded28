"""A user's own code: found by ``module:name``, called, and told apart by its files."""
