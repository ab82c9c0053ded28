"""Workers: they take jobs from the queue, and compute reports."""
