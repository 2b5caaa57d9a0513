"""Numbers of a window: what its ops are, move, hold and need. Pure functions of tables; no claims, no sentences."""
