"""Several devices, and the host: balance, collectives, gaps."""
