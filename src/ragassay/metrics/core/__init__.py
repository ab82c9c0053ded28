"""What a metric is: its classes, names and parameters."""
