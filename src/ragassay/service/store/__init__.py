"""What the service keeps: projects, tasks, records, reports, jobs, tokens; in SQLite or
PostgreSQL."""
