"""What checks of several steps have in common."""
