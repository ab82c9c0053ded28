"""Ratios against the peers, each measured in the same run. ``python -m benchmarks`` runs all."""
