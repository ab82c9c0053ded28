"""How alike several runs of one query are."""
