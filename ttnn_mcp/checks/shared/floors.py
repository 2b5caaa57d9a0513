"""The least an op can take, whatever is changed about it: what savings are counted down to."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Floats, WindowFacts


def least_ns(facts: WindowFacts) -> Floats:
    """Per op: its arithmetic at the fidelity it has, its DRAM bytes at peak bandwidth, or its launch."""
    return _floor(facts, np.fmax(facts.roofline.compute_ns, facts.roofline.dram_ns))


def achievable_ns(facts: WindowFacts) -> Floats:
    """Per op: its arithmetic on all cores that can work, its DRAM bytes at achievable bandwidth, or its launch."""
    return _floor(facts, np.fmax(facts.roofline.compute_ns, facts.roofline.dram_achievable_ns))


def _floor(facts: WindowFacts, bounds: Floats) -> Floats:
    """A row that shows what cannot be has nothing to give: its time or its operands are another op's."""
    bounds = np.where(facts.roofline.impossible, np.inf, bounds)
    return np.minimum(np.fmax(bounds, LAUNCH_FLOOR_NS), facts.kernel_ns)
