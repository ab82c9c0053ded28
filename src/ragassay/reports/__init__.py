"""Every way to show a result."""
