"""Metrics of retrieved chunks beside expected chunks or character spans."""
