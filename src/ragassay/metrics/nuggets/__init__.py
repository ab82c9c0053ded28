"""Nuggets: making them, and how many of them an answer holds."""
