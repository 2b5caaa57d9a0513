"""Edits: what to change in a model, in which order, and what is left of its time after each."""
