"""L1 is almost full at its peak: the next larger batch, block or buffer does not fit.

Tensors grow down from the top of each L1 bank, circular buffers up from its bottom, and those of one op are in memory
together. The free bytes between them at the fullest moment are all the room for a larger act_block_h, double
buffering, a sharded input instead of one in DRAM, or one more skip connection.

The line: under 5 % of the bank is free at the true peak, with circular buffers and tensors within operations (our
models of L1 use are good to about 5 %). It costs no time by itself: a risk, and the reason why other measures may
fail.

Silent if more is free. Cannot tell without captured graphs: the buffers table shows no circular buffers.
"""

from __future__ import annotations

from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.checks.check import Affected, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import L1_USE
from ttnn_mcp.checks.needs import CAPACITY, CAPTURES, ENDED, MEMORY, REPLAY
from ttnn_mcp.checks.shared.memory_claims import (
    cite_capacity,
    cite_graph,
    lack_of_room,
    operation_name,
    replay_behind,
)
from ttnn_mcp.quoting import figure

TIGHT_SHARE = 0.05  # of the bank: the accuracy of the models of conv and matmul L1 (ours)


@check(
    title="L1 almost full at its peak",
    lever=L1_USE,
    risk=True,
    needs=(MEMORY, ENDED, REPLAY, CAPACITY, CAPTURES),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the operation at the peak."""
    replayed, capacity = replay_behind(facts)
    peak = replayed.fullest.peak
    if capacity - int(replayed.fullest.l1[peak]) < TIGHT_SHARE * capacity:
        yield lack_of_room(facts, [int(replayed.operations[peak])], _tell)


def _tell(ops: Affected) -> Words:
    replayed, capacity = replay_behind(ops.facts)
    peak = replayed.fullest.peak
    level, circular = int(replayed.fullest.l1[peak]), int(replayed.fullest.circular[peak])
    return Words(
        claim=(
            f"L1 is {figure(level / capacity, '.1%')} full at {operation_name(replayed, peak)}: "
            f"{level} of {capacity} bytes per "
            f"bank, {circular} of them circular buffers; {capacity - level} free"
        ),
        assumption="gives room, not time",
        evidence=(cite_graph(replayed, peak, level), cite_capacity(replayed)),
        fix=_fix(replayed, peak),
        verify="capture again; memory_summary.l1_peak.headroom_bytes grows",
        caveat=_doubt(replayed),
    )


def _doubt(replayed: Replayed) -> str | None:
    if replayed.floor_because:
        return "a lower bound: not all circular buffers are known"
    if replayed.without_snapshots:
        return "may be too high: the report does not tell what Python dropped"
    by_model = bool(replayed.fullest.by_model[replayed.fullest.peak])
    return "its circular buffers are a model's: the report leaves them out" if by_model else None


def _fix(replayed: Replayed, peak: int) -> str:
    tensors, circular = int(replayed.fullest.tensors[peak]), int(replayed.fullest.circular[peak])
    late = replayed.lifetimes.late_frees(peak).over(peak)
    if late:
        return "; ".join(f"ttnn.deallocate(tensor {one.tensor}): {one.bytes_per_bank} bytes" for one in late[:3])
    if circular > tensors and "conv" in replayed.memory.operations.names[peak]:
        return (
            "ttnn.Conv2dConfig(act_block_h_override=<smaller>, weights_dtype=ttnn.bfloat8_b), other fields as now, "
            "shrinks its buffers"
        )
    if circular > tensors:
        return "smaller blocks in program_config (in0_block_w, per_core_M) or bfloat8_b operands shrink its buffers"
    return "ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG) for what it does not read: see memory_summary.live"
