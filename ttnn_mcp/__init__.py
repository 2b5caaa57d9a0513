"""Ask a TTNN profile why it is slow."""

__version__ = "0.1.0"

# For the environment, before numpy loads: its library for matrices starts a thread per core, 0.1 s of CPU time each.
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "1")
