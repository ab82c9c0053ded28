"""Synthesis: from documents to items of a golden set, filtered and with their provenance."""
