"""The runs that are open, by name and id, and where state is kept."""
