"""Citations: reading them from an answer, and whether they support what they are cited for."""
