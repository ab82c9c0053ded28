"""The folder of a run: what is written to it and read from it."""
