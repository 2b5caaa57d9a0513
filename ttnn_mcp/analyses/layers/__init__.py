"""Blocks of ops that repeat in a window, and each op's role in its block."""
