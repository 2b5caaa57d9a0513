"""A fuzz of ttnn-mcp through its public doors: `make fuzz`, or `python -m fuzz --help`."""
