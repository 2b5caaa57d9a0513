"""The shards of an op's operands, as far as the reports tell: no CSV prints the shard of an operand.

A linked memory report prints the placement of every tensor. Without one, the op that wrote the operand may have printed
its shards. A CSV names no tensors: that op counts as the maker if it ran right before on the device and all ops before
that wrote a tensor of that description tell the same shard. (What was uploaded in shards has no maker.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias, TypeVar

import numpy as np

from ttnn_mcp.analyses.moves.move_patterns import CONFIG_KEYS
from ttnn_mcp.analyses.settings.room import captured_launches
from ttnn_mcp.arrays import Booleans
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.readers.printed.memory_config import Placement, parse_memory_config
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand
from ttnn_mcp.run.run import Run

Shape: TypeAlias = "tuple[int, int]"
Told = TypeVar("Told")


async def told_shards(run: Run, line: int) -> dict[str, Shape]:
    """Rows and columns, in elements, of the shards of the op's operands, by the operand's name."""
    table = run.performance_report.ops
    row = table.at_line(line)
    if row is None:
        return {}
    launches = await captured_launches(run, line)
    captured = [
        fitting_shards(table.inputs, row, launch.inputs) | fitting_shards(table.outputs, row, launch.outputs)
        for launch in launches
    ]
    if any(captured):  # device ops that may be it must tell the same
        return captured[0] if captured.count(captured[0]) == len(captured) else {}
    written = {one.name: _written(table, row, one, _own_shard) for one in table.inputs if one.sharded[row]}
    return {name: shape for name, shape in written.items() if shape is not None}


async def told_placements(run: Run, line: int) -> dict[str, Placement]:
    """The whole placement, cores included, of the op's operands in shards, by the operand's name."""
    table = run.performance_report.ops
    row = table.at_line(line)
    if row is None:
        return {}
    operands = [one for one in (*table.inputs, *table.outputs) if one.sharded[row]]
    for launch in await captured_launches(run, line):
        specs = dict(zip((one.name for one in table.inputs), launch.inputs, strict=False))
        specs |= dict(zip((one.name for one in table.outputs), launch.outputs, strict=False))
        shards = {
            one.name: place
            for one in operands
            if one.name in specs
            and prod(specs[one.name].shape) == int(one.elements[row])
            and (place := _whole(specs[one.name].placement, one.placement[row].partition("_")[2])) is not None
        }
        if shards:
            return shards
    written = {one.name: _written(table, row, one, _own_place) for one in table.inputs if one.sharded[row]}
    return {name: place for name, place in written.items() if place is not None}


def fitting_shards(operands: Sequence[Operand], row: int, specs: Sequence[Spec]) -> dict[str, Shape]:
    """Shards of the tensors that a graph prints, where they are the row's by their order, layout and size."""
    shapes = {
        one.name: _shape(spec.placement, one.placement[row].partition("_")[2])
        for one, spec in zip(operands, specs, strict=False)
        if prod(spec.shape) == int(one.elements[row])
    }
    return {name: shape for name, shape in shapes.items() if shape is not None}


def _written(
    table: OpTable, row: int, operand: Operand, own: Callable[[Attributes, str], Told | None]
) -> Told | None:
    """The shard that the op right before wrote, if all before that wrote a tensor of that description tell the same."""
    devices = np.nan_to_num(table.numbers("device"), nan=-1.0)  # a report of one device need not name it
    before = (np.arange(len(table)) < row) & (devices == devices[row])
    made = np.zeros(len(table), dtype=np.bool_)
    for output in table.outputs:
        made |= before & _alike(output, operand, row)
    if not made.any() or before[1 + int(np.flatnonzero(made)[-1]) :].any():
        return None
    attributes, makers = table.texts("attributes"), np.flatnonzero(made)
    makers = makers[np.unique(attributes.codes[makers], return_index=True)[1]]
    layout = operand.placement[row].partition("_")[2]
    shards = {own(parse_attributes(attributes[maker]), layout) for maker in makers.tolist()}
    return shards.pop() if len(shards) == 1 else None


def _alike(output: Operand, operand: Operand, row: int) -> Booleans:
    """Rows whose output has the shape, data type, layout and placement of the row's operand."""
    same: Booleans = (output.padded == operand.padded[row]).all(axis=1)
    for part in ("dtype", "layout", "placement"):
        same &= getattr(output, part).among(getattr(operand, part)[row])
    return same


def _own_shard(attributes: Attributes, layout: str) -> Shape | None:
    """The shard of an op's output: the block of each core of a matmul, or what its memory config names."""
    config = attributes.struct("program_config")
    rows, columns = (config.number(side) if config else None for side in ("per_core_M", "per_core_N"))
    if rows and columns:
        return rows * TILE_SIDE, columns * TILE_SIDE
    return _shape(parse_memory_config(attributes.text_of(*CONFIG_KEYS) or ""), layout)


def _own_place(attributes: Attributes, layout: str) -> Placement | None:
    return _whole(parse_memory_config(attributes.text_of(*CONFIG_KEYS) or ""), layout)


def _whole(placement: Placement | None, layout: str) -> Placement | None:
    """A placement of that layout that names its cores."""
    shard = placement.shard if placement is not None and placement.layout == layout else None
    return placement if shard is not None and len(shard.shape) == 2 and shard.ranges else None


def _shape(placement: Placement | None, layout: str) -> Shape | None:
    """Rows and columns of the shards of a placement of that layout; None where it names none."""
    shard = placement.shard if placement is not None and placement.layout == layout else None
    return (shard.shape[0], shard.shape[1]) if shard is not None and len(shard.shape) == 2 else None
