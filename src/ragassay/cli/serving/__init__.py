"""The service: served, with workers and tokens; and tools for agents."""
