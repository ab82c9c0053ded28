"""Where a model's weights are, and how they come to this machine."""
