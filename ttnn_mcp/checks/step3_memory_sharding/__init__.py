"""Step 3: where tensors live, how many cores work, and with which program configs."""
