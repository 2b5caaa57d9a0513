"""Operands and attributes of one op, as op_detail shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.wire import Quoted, Wire

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable

VALUE_CHARS = 180  # an attribute's value: enough for a program config, not for a kernel list
WHOLE_CHARS = 8_000  # of the one value that is asked for in full
OPERANDS_SHOWN = 5
TELLING = (
    *("program_config", "config", "block_config", "parallelization_config", "compute_kernel_config"),
    *("memory_config", "output_mem_config", "output_memory_config", "dtype", "output_dtype", "groups"),
    *("enable_act_double_buffer", "enable_weights_double_buffer", "transpose_a", "transpose_b", "user_core_coord"),
)


class Placed(Wire):
    """An operand (INPUT_0) or tensor and where it lives."""

    name: str
    shape: str
    layout: Quoted
    dtype: Quoted
    placement: Quoted
    bytes: int | None = None


def operands_of_op(ops: OpTable) -> tuple[tuple[Placed, ...], int]:
    """The operands, outputs first where not all fit; and how many did not."""
    operands = [one for one in (*ops.outputs, *ops.inputs) if one.present[0]]
    shown_first = sorted(operands[:OPERANDS_SHOWN], key=lambda one: one.name)
    placed = (
        Placed(
            name=one.name,
            shape=one.shape_text(0),
            layout=shown(one.layout[0]),
            dtype=shown(one.dtype[0]),
            placement=shown(one.placement[0]),
            bytes=int(one.bytes[0]),
        )
        for one in shown_first
    )
    return tuple(placed), max(0, len(operands) - OPERANDS_SHOWN)


def attributes_of_op(op: OpTable, whole: str | None = None) -> dict[str, str]:
    """The attributes with a value, the telling ones first; long values are cut, but for the one named `whole`."""
    attributes = parse_attributes(op.texts("attributes")[0])
    first = [name for name in (whole, *TELLING) if name is not None and name in attributes]
    order = dict.fromkeys([*first, *attributes])
    return {
        shown(name): cut(attributes[name], WHOLE_CHARS if name == whole else VALUE_CHARS)
        for name in order
        if attributes[name] not in ("std::nullopt", "")
    }


def cut(text: str, most: int) -> str:
    """One printable line of at most `most` characters."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= most else f"{line[: most - 3]}..."
