"""UMBRELA's relevance grades, and rankings by them."""
