"""Sentences that are nearly the same: where one says another thing than the other."""
