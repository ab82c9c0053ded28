"""What a run leaves: scores, summary, verdicts, and its folder."""
