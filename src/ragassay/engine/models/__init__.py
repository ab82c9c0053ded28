"""Which models a run needs, whether they are here, and the run's embedder."""
