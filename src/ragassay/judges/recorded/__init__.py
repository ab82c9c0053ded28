"""Recorded answers: answers as lines of a file, and the judge that repeats such a file."""
