"""The notes below the tables of a run or a comparison: how their numbers were computed."""
