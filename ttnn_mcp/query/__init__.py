"""Read-only SQL over a run's tables, with limits."""
