"""What many runs measured, in one SQLite database of the user's: history, precedents, regressions."""
