"""Systems that are reached by HTTP: how they are asked, and where their replies hold what."""
