"""Fix texts for compiled models, whose author cannot change the TTNN call: the compiler's option instead."""

from __future__ import annotations

OPTIMIZE = 'torch_xla.set_custom_compile_options({"optimization_level": "2"})'  # tt-xla: layout and shard analysis


def optimized(effect: str) -> str:
    """The option after which the compiler does what `effect` says ("shards norms")."""
    return f"{OPTIMIZE}: the compiler then {effect}"


def compute_config_of_compiler(setting: str) -> str:
    """What to do about a compute config that the compiler writes."""
    return f"the compiler writes the compute config: try a release that sets {setting} (tt-mlir #6560)"
