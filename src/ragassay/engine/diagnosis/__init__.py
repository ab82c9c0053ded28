"""Why samples fail, by the scores of a run; and which kinds of failure a change moved."""
