"""What the service keeps: projects, tasks, records, reports, jobs, tokens; in SQLite or
PostgreSQL."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
