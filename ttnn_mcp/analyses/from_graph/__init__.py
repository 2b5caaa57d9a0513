"""What each device op of a memory report allocates in L1, modelled from the captured calls."""
