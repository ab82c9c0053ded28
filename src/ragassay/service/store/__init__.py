"""What the service keeps: tables in SQLite or PostgreSQL. Where nothing has an id, functions raise
`NotThere`; what makes no sense is a `UsageError`, whose sentence clients read."""
