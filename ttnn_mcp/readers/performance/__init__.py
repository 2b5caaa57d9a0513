"""The performance report: a CSV of one row per op and device."""
