"""Settings of many kinds of ops: weight format, math fidelity, core grid. Savings as in the checks of step 1."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import (
    fewer_bytes_save,
    fewer_passes_save,
    spared_bytes,
    waits_for_arithmetic,
    waits_for_bytes,
)
from ttnn_mcp.analyses.programs.grids import Grid, worker_grid
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value, broken_of
from ttnn_mcp.hardware import BLOCK_FLOATS, FIDELITY_PHASES, TILE_BYTES, canonical_dtype
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.printed.nesting import PrintedStruct, parse_struct

DTYPES = ("BFLOAT4_B", "BFLOAT8_B", "BFLOAT16", "FLOAT32")  # of weights and outputs, the lightest first
FIDELITIES = tuple(FIDELITY_PHASES)
# with BFLOAT4_B weights, which have no bits for a second pass (tt-metal #39627); the pass takes its time all the same
# (a public sweep of decode matmuls on Blackhole: 195.2 us at HiFi2, 105.4 at LoFi, one PCC)
SAME_RESULT = {"LoFi", "HiFi2"}


def lighter_weights(op: Op, current: str, value: str, l1: Trial | None = None) -> Trial:
    """The trial of another `weights_dtype`; `l1` is the L1 that it takes, if known."""
    weights = op.table.inputs[1]
    ratio = TILE_BYTES[value] / TILE_BYTES[current] if current in TILE_BYTES else 1.0
    waits = bool(waits_for_bytes(op.table, op.bounds)[0])
    saved = fewer_bytes_save(op.table, op.bounds, spared_bytes(weights, value))
    return Trial(
        current,
        broken_of(
            {f"{value} exists in TILE layout only": value not in BLOCK_FLOATS or weights.layout[0] == "TILE"}
        ),
        unknown=l1.unknown if l1 else "",
        buffers=l1.buffers if l1 else {},
        tensors=l1.tensors if l1 else {},
        older_bytes=l1.older_bytes if l1 else 0,
        change=f"weights take {figure(ratio, '.2f')} times the bytes"
        + ("" if waits else "; the op does not wait for bytes"),
        at_most_ns=float(saved[0]) if waits else 0.0,
        needs="PCC >= 0.99 afterwards",
        effect=value != current,
    )


def math_fidelity(op: Op, value: str) -> Trial:
    """The trial of another `math_fidelity`."""
    current = op.table.texts("fidelity")[0]
    if current not in FIDELITY_PHASES:
        return Trial(None, change="the op reports no math fidelity", at_most_ns=None, same_l1=True)
    # a report of memory alone tells as many as the op has
    formats = [operand.dtype[0] for operand in op.table.inputs]
    same_result = formats[1:2] == ["BFLOAT4_B"] and {current, value} == SAME_RESULT
    waits = bool(waits_for_arithmetic(op.table, op.bounds)[0])
    saved = fewer_passes_save(op.table, op.bounds, np.array([float(FIDELITY_PHASES[value])]))
    before, after = FIDELITY_PHASES[current], FIDELITY_PHASES[value]
    then = (
        ", which takes longer" if after > before else "" if waits else "; the op does not wait for its arithmetic"
    )
    return Trial(
        current,
        change="" if value == current else f"passes over the operands: {before} now, {after} then{then}",
        at_most_ns=float(saved[0]) if waits else 0.0,
        needs="nothing: the result stays, as bfloat4_b weights have no bits for a second pass"
        if same_result
        else "PCC >= 0.99 afterwards",
        effect=value != current,
        same_l1=True,
    )


def grid_rules(op: Op, grid: Grid) -> tuple[str, ...]:
    """The rules that a core grid breaks, in words."""
    most, (x, y) = worker_grid(op.chip), grid
    if most is not None:
        return broken_of({f"within the worker grid {most[0]}x{most[1]}": 0 < x <= most[0] and 0 < y <= most[1]})
    cores = op.chip.worker_cores
    return broken_of({f"at most the {cores} worker cores": x > 0 and y > 0 and (cores is None or x * y <= cores)})


def largest_grid(op: Op) -> str | None:
    """The worker grid in words, such as '11x10'; None where it is unknown."""
    most = worker_grid(op.chip)
    return f"{most[0]}x{most[1]}" if most else None


def grid_named(value: Value) -> Grid:
    """The grid in the user's text, such as 8x7."""
    columns, _, rows = str(value).partition("x")
    return int(columns), int(rows)


def grid_of(config: PrintedStruct | None) -> Grid | None:
    """The grid that a program config names; None where it names none."""
    grid = parse_struct(config.fields.get("compute_with_storage_grid_size", "")) if config else None
    x, y = (grid.number("x"), grid.number("y")) if grid else (None, None)
    return (x, y) if x and y else None


def tile_bytes(op: Op, operand: int) -> float | None:
    """Bytes of a tile of an input (-1 means the output); None for an unknown data type."""
    tensor = op.table.outputs[0] if operand < 0 else op.table.inputs[operand]
    return TILE_BYTES.get(canonical_dtype(tensor.dtype[0]))


def accumulates_fp32(op: Op) -> bool:
    """Whether the op's compute kernel config has fp32_dest_acc_en."""
    return kernel_flag(op, "fp32_dest_acc_en")


def kernel_flag(op: Op, name: str) -> bool:
    """Whether the op's compute kernel config has this flag."""
    compute = op.attributes.struct("compute_kernel_config") or PrintedStruct("", {})
    return compute.number(name) == 1
