"""What other tools call their metrics."""
