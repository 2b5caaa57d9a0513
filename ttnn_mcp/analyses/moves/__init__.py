"""Copies, reshards and conversions: who asked for each, and chains of them."""
