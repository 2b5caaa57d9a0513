"""Laws of time: the kernel time to expect of an op, with its interval. Fitted by `make laws`."""
