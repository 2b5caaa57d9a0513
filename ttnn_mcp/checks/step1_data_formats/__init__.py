"""Step 1: data formats and math fidelity."""
