"""Options of tt-xla that the repository names: its wheel is no part of any environment here, so they stand in a list."""

from __future__ import annotations

import re

# compile_options.h and compile_options.cc of tt-xla, August 2026; an option it does not know is ignored silently
KNOWN = frozenset(
    {
        "optimization_level",
        "enable_trace",
        "math_fidelity",
        "fp32_dest_acc_en",
        "experimental_weight_dtype",
        "experimental-kv-cache-dtype",
        "enable_activation_dtype_lowering",
        "enable_create_d2m_subgraphs",
    }
)
CALL = re.compile(r"set_custom_compile_options\(\s*\{([^}]*)\}")


def named(text: str) -> set[str]:
    """The options that calls in a text set."""
    return {name for body in CALL.findall(text) for name in re.findall(r"[\"']([\w-]+)[\"']\s*:", body)}
