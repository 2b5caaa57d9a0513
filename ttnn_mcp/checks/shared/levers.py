"""The lever of whoever cannot write the TTNN call, because a compiler front end wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.checks.shared.wording import compiled

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts

OPTIMIZE = 'torch_xla.set_custom_compile_options({"optimization_level": "2"})'  # tt-xla: layout and shard analysis


def unless_compiled(facts: WindowFacts, fix: str, then: str) -> str:
    """`fix`; or, where a compiler chose, the option after which it will, `then` saying what."""
    return f"{OPTIMIZE}: the compiler then {then}" if compiled(facts) else fix
