"""Arranges the work: from samples and metrics to a result."""
