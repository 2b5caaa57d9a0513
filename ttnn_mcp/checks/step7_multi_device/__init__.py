"""Step 7: several devices."""
