"""The system under test: what it is, how it is asked, what it answered."""
