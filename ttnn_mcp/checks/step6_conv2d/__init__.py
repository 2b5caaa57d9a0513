"""Step 6: convolutions."""
