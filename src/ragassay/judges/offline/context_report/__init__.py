"""ML cube's report by rules: what a query asks for, and whether a context holds it."""
