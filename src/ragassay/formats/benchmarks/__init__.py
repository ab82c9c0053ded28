"""Files of published benchmarks and evaluators, one reader a format."""
