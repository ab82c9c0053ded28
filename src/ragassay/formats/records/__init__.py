"""One record of a file: how it is read, what its fields mean, and the sample that they make."""
