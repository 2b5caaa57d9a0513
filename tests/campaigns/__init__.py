"""Simulated optimisation loops on a simulated device whose best program is known."""
