"""The memory report: a SQLite database, opened read-only."""
