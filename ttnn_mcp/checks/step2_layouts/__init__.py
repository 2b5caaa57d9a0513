"""Step 2: tensor layouts and shapes."""
