"""The answer of memory_summary, and how it is kept short."""

from __future__ import annotations

from typing import Annotated, Literal

from ttnn_mcp.tools.parts import memory_tables as tables
from ttnn_mcp.tools.parts.memory_errors import Failed
from ttnn_mcp.wire import Quoted, Quoting, Table, Wire

LATE_ROWS, LIVE_ROWS = 8, 16


class L1Peak(Wire):
    """The fullest moment on the fullest chip; bytes of one bank (one core).

    `circular_buffers_by`: the report leaves them out, this tells them. `recorded`: the most by the report alone.
    `outcome`: the operation failed.
    """

    operation: int
    name: Quoted
    device_op: Quoted | None = None
    line: Quoted | None = None
    device: int | None = None
    outcome: str | None = None
    bytes_per_bank: int
    recorded_bytes_per_bank: int | None = None
    capacity_bytes: int | None
    headroom_bytes: int | None
    headroom_at_most_bytes: int | None = None
    headroom_modelled_bytes: int | None = None
    tensors_bytes: int
    circular_buffers_bytes: int
    circular_buffers_by: Literal["first launch", "model"] | None = None
    persistent_bytes: int = 0
    activations_bytes: int = 0
    temporaries_bytes: int = 0


class ProgramCounts(Wire):
    """Device operations, and those whose circular or dataflow buffers the report leaves out."""

    device_operations: int
    without_buffers: int
    carried_over: int
    modelled: int
    unknown: int


class Dram(Wire):
    """DRAM at its fullest; per bank, and of all buffers together where their sizes are known.

    TTNN keeps a little of the capacity for itself. Of one operation `live` has the holders. `freed_inside_...` is
    what the operation frees before it ends: no tensor, so no holder. `device`: if it is not that of `l1_peak`.
    """

    operation: int
    device: int | None = None
    bytes_per_bank: int
    bytes: int | None = None
    banks: int | None = None
    capacity_at_most_bytes_per_bank: int | None = None
    holders: Annotated[Table, tables.HOLDERS] | None = None
    more_holders: int = 0
    freed_inside_bytes_per_bank: int = 0


class Small(Wire):
    """The L1_SMALL region at its fullest."""

    operation: int
    device: int | None = None
    bytes_per_bank: int
    capacity_bytes: int | None = None


class Fragmentation(Wire):
    """Free L1 of a bank at the fullest moment: in one piece, and in holes above the lowest tensor."""

    largest_free_bytes: int
    largest_hole_bytes: int
    holes_bytes: int
    largest_allocation_bytes: int
    largest_hole_after_bytes: int | None = None


class Answer(Wire):
    """Answer of memory_summary; `ran_out` tells the first error if memory ran out."""

    ran_out: Quoting | None = None
    l1_peak: L1Peak
    floor: bool = False
    why: Quoting | None = None
    programs: ProgramCounts | None = None
    buffers_table_bytes: int
    timeline: Annotated[Table, tables.TIMELINE]
    live: Annotated[Table, tables.LIVE]
    more_live: int = 0
    late_frees: Annotated[Table, tables.LATE_FREES]
    more_late_frees: int = 0
    late_frees_return_bytes: int = 0
    errors: tuple[Failed, ...]
    more_errors: int = 0
    fragmentation: Fragmentation | None = None
    cores: Annotated[Table, tables.CORES] | None = None
    circular_buffers: Annotated[Table, tables.CIRCULAR_BUFFERS] | None = None
    l1_small: Small | None = None
    dram: Dram | None = None
    devices: Annotated[Table, tables.DEVICES] | None = None
    rank: int | None = None
    caveats: tuple[Quoting, ...] = ()


def capped(answer: Answer) -> Answer:
    """The answer with the largest live tensors only, the others counted: the budget cuts further where it must."""
    left_out = max(len(answer.live.rows) - LIVE_ROWS, 0)
    live = answer.live.model_copy(update={"rows": answer.live.rows[:LIVE_ROWS]})
    return answer.model_copy(update={"live": live, "more_live": answer.more_live + left_out})
