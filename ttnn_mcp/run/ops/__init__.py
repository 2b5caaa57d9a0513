"""The table of ops, with what is worked out of each row once."""
