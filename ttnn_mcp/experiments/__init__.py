"""The loop: what was tried on a model, each result with its verdict, and what to do next."""
