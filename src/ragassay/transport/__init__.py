"""How requests travel: endpoints, pace and limits, retries, prices, keys.

Judges and embedders stand on it.
"""
