"""Metrics by a rubric: a user's own, and ML cube's report."""
