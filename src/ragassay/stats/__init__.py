"""Intervals, paired tests and corrections. Arrays in, results out; it needs numpy only."""
