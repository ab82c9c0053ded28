"""Metrics of rankings beside relevance judgements (trec_eval's, and those that it lacks)."""
