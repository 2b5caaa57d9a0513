"""Fix texts for compiled models, whose author cannot change the TTNN call: the compiler's option instead.

Options are those of tt-xla's compile_options.h of August 2026. It ignores an unknown option without a warning.
"""

from __future__ import annotations

OPTIMIZE = 'torch_xla.set_custom_compile_options({"optimization_level": "2"})'  # tt-xla: layout and shard analysis
COMPUTE_OPTIONS = ("math_fidelity", "fp32_dest_acc_en")  # since January 2026; for packer_l1_acc there is none


def optimized(effect: str) -> str:
    """The option after which the compiler does what `effect` says ("shards norms")."""
    return f"{OPTIMIZE}: the compiler then {effect}"


def compute_config_of_compiler(setting: str) -> str:
    """How to change a compute config that the compiler writes; `setting` is like "math_fidelity=HiFi2"."""
    name, _, value = setting.partition("=")
    if name not in COMPUTE_OPTIONS:
        return f"the compiler writes the compute config, and tt-xla has no option for its {name}"
    option = f'torch_xla.set_custom_compile_options({{"{name}": "{value.lower()}"}})'
    return f"the compiler writes the compute config: {option}, since January 2026, in one call with other options"
