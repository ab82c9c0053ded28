"""Embedders of texts: from a folder, an endpoint or a file of vectors."""
