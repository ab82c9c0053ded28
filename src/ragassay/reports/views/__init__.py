"""What each result shows: a function a result, which makes a `Report` of it."""
