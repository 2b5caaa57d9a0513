"""Fix texts for compiled models, whose author cannot change the TTNN call: the compiler's option instead.

Options of tt-xla as its compile_options.h of August 2026 has them: one that it does not know is ignored without a word.
"""

from __future__ import annotations

OPTIMIZE = 'torch_xla.set_custom_compile_options({"optimization_level": "2"})'  # tt-xla: layout and shard analysis
COMPUTE_OPTIONS = ("math_fidelity", "fp32_dest_acc_en")  # since January 2026; for packer_l1_acc there is none


def optimized(effect: str) -> str:
    """The option after which the compiler does what `effect` says ("shards norms")."""
    return f"{OPTIMIZE}: the compiler then {effect}"


def compute_config_of_compiler(setting: str) -> str:
    """What to do about a compute config that the compiler writes; `setting` as "math_fidelity=HiFi2"."""
    name, _, value = setting.partition("=")
    if name not in COMPUTE_OPTIONS:
        return f"the compiler writes the compute config, and tt-xla has no option for its {name}"
    option = f'torch_xla.set_custom_compile_options({{"{name}": "{value.lower()}"}})'
    return f"the compiler writes the compute config: {option}, since January 2026, in one call with other options"
