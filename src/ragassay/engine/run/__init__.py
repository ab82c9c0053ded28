"""One run: from the source through windows of samples to scores."""
