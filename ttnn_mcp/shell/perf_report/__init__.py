"""The table of tt-perf-report 1.4.1 by its own model, for those who read its CSV."""
