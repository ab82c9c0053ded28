"""Finds in documents: spans that were edited, chunks of systems, and texts that are to be gold."""
