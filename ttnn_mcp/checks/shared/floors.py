"""The least an op can take, whatever is changed about it: what savings are counted down to."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Floats, WindowFacts


def least_ns(facts: WindowFacts) -> Floats:
    """Per op: its arithmetic at the fidelity it has, its DRAM bytes at peak bandwidth, or its launch."""
    bounds = np.fmax(facts.roofline.compute_ns, facts.roofline.dram_ns)
    return np.minimum(np.fmax(bounds, LAUNCH_FLOOR_NS), facts.kernel_ns)


def achievable_ns(facts: WindowFacts) -> Floats:
    """Per op: its arithmetic on all cores, its DRAM bytes at achievable bandwidth, or its launch."""
    bounds = np.fmax(facts.roofline.compute_ns, facts.roofline.dram_achievable_ns)
    return np.minimum(np.fmax(bounds, LAUNCH_FLOOR_NS), facts.kernel_ns)
