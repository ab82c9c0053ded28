"""Charts of one run or one comparison."""
