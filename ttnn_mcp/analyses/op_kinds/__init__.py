"""What kind an op is, and patterns of ops that checks and comparisons look for."""
