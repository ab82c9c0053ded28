"""The ledger of paid answers and vectors: its file, looking up, listing and cleaning."""
