"""What fixes set of compute kernel configs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.checks.op_config import OpConfig, Sets


def sets_compute(**fields: str) -> Sets:
    """The same fields for every op."""
    return lambda config: config.computing(**fields)


def sets_fidelity(of: Callable[[int], str]) -> Sets:
    """The math fidelity of each op by its row."""

    def change(config: OpConfig) -> OpConfig:
        return config.computing(math_fidelity=of(config.row))

    return change
