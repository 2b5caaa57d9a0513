"""The graphs that TTNN captured, as a memory report keeps them."""
