"""How fast a window could be, and where the difference goes."""
