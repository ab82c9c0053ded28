"""Golden sets from files of other tools, and in their formats."""
