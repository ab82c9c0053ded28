"""Metrics of how a system served its queries: time, tokens, money, errors."""
