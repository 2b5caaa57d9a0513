"""Ask a TTNN profile why it is slow."""

__version__ = "0.1.0"

# For the environment, before numpy loads: its library for matrices starts a thread per core, 0.1 s of CPU time each.
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "1")
# For the environment, before pydantic makes a model: else it reads what every package that is installed says of itself.
NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
