"""The least time of an op: bytes and arithmetic at the rates of its chip."""
