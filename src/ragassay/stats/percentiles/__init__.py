"""Percentiles of a run and their differences, with intervals that assume no distribution."""
