"""The configuration of a run: its keys, files, environment, and what it selects."""
