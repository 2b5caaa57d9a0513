"""What the Conv2d checks have in common: which ops they are about, who made what, and sentences about L1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.checks.check import Evidence, WindowFacts, ops_named
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_setting

if TYPE_CHECKING:
    from ttnn_mcp.analyses.dataflow.readers import Joins
    from ttnn_mcp.analyses.memory.l1_limit import L1Limit
    from ttnn_mcp.analyses.op_kinds.conv_l1 import Conv

MOST_COPIES = 2  # between a conv and its activation: sharded to interleaved, a slice (ours)
CONVS = ops_named("no Conv2d ops (a 1x1 conv of stride 1 runs as a Matmul)", "Conv2d")
CONV_CONFIGS = optimized("chooses the conv configs itself")


def conv_behind(facts: WindowFacts, joins: Joins, row: int) -> int | None:
    """The conv whose output comes to `row` unchanged and to no one else: directly, or through copies and slices."""
    at, convs = row, facts.named("Conv2d")
    passes = facts.of_family("movement") | facts.named("SliceWrite")
    for _ in range(MOST_COPIES + 1):
        maker = int(joins.makers[at])
        if joins.readers(maker) != (at,):  # nobody has no readers
            return None
        if convs[maker]:
            return None if _twice_read(facts, row) else maker
        if not passes[maker]:
            return None
        at = maker
    return None


def _twice_read(facts: WindowFacts, row: int) -> bool:
    """Whether an op seems to read `row`'s output twice: one of the two may be the conv's, which looks alike."""
    if len(facts.flow.producers) < 2:
        return False
    first, second = facts.flow.producers[:2]
    return bool(((first == row) & (second == row) & ~facts.of_family("movement")).any())


def cite_height(facts: WindowFacts, row: int) -> tuple[Evidence, ...]:
    """The block height of a conv, and the height per core it is a part of (in elements before 2025-03)."""
    spread = facts.attributes(row).get("parallelization_config", "")
    tiles, elements = "per_core_out_matrix_height_ntile", "per_core_out_matrix_height"
    key = tiles if tiles in spread else elements
    return (
        cite_setting(facts, row, "block_config", "act_block_h_ntiles"),
        cite_setting(facts, row, "parallelization_config", key),
    )


def megabytes(size: float) -> str:
    """1370368 -> '1.37 MB'."""
    return f"{size / 1e6:.2f} MB"


def l1_caveat(limit: L1Limit, conv: Conv, arch: str | None) -> str:
    """What the L1 figures rest on, as far as it is not read from the reports."""
    said = "L1 modelled to about 5 %"
    if not limit.read:
        said += f"; limit {'of' if limit.measured else 'inferred for'} {arch} (no memory report)"
    if not conv.allocated_said:
        said += "; other tensors in L1 are not known, only the conv's input is counted"
    return said
