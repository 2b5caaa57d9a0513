"""Commands that make a profile: what to set, what to run, what went wrong."""
