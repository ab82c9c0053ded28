"""What the numbers mean: arrays in, results out."""
