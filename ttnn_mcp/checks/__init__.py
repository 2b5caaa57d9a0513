"""The catalogue of checks, written by hand, in the order of the skill's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.checks.step4_metal_trace import stalled_on_host

if TYPE_CHECKING:
    from ttnn_mcp.checks.check import Check

CATALOGUE: tuple[Check, ...] = (stalled_on_host.CHECK,)
