"""Classifiers: HHEM."""
