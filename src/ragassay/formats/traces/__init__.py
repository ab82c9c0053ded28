"""Traces that tools for observation export: spans of one request become a sample."""
