"""Ask a TTNN profile why it is slow."""

__version__ = "0.1.0"
