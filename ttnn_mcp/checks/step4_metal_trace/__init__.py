"""Step 4: the device waits for the host."""
