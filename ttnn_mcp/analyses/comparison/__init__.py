"""Two windows side by side: which ops are the same, what changed, and what makes a gain doubtful."""
