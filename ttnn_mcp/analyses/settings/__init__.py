"""Whether TTNN takes a value of a setting, whether it fits L1, and what time to expect."""
