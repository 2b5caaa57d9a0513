"""Step 5: a second command queue."""
