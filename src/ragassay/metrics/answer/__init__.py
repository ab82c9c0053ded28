"""Metrics of an answer beside reference answers."""
