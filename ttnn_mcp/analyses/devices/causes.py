"""Why devices take different times for the same op, where the op's attributes show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.analyses.attribute_columns import attributes_of

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable


def uneven_ring(ops: OpTable, row: int) -> str | None:
    """The cause if the op is causal attention over a ring whose parts of the sequence are dealt out in order.

    A device with a later part attends to all keys before it: of two devices, the second one has three times the
    pairs of the first (TTNN's ring_joint_scaled_dot_product_attention, `is_balanced`).
    """
    settings = attributes_of(ops).row(row)
    ring = settings.number("ring_size") or 0
    if ring < 2 or settings.flag("is_causal") is not True or settings.flag("is_balanced") is not False:
        return None
    return (
        f"causal attention over a ring of {ring:g} with is_balanced=false: devices with later parts of the sequence "
        "attend to more keys; is_balanced=true with a sequence in zigzag order evens it"
    )
