"""Why samples fail, told from the scores of a run; and which kinds of failure a change moved."""
