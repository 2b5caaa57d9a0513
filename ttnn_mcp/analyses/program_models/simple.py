"""Buffers of ops that work page by page: elementwise, reductions, and what moves or converts tensors.

Each program keeps a few pages of each tensor, mostly two, one read or written while the other is worked on. How many
was measured on TTNN 0.81.1 mock devices, per program factory; a tensor that cores hold as shards takes nothing, which
is not counted on. Where the number depends on the shape of the work, the most is taken.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.analyses.memory.programs import Room
    from ttnn_mcp.analyses.program_models.machine import Machine
    from ttnn_mcp.readers.graph.launches import Launch, Spec

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
CHUNK = 8  # pages that reductions, repeats and the like read at a time
ROWS_OF_SLICE = 8192  # bytes
ROWS_TOGETHER = 65_536  # bytes: padding by rows works on 32 rows while they fit, then on 16
_HEADS = re.compile(r"\(\d+, \d+, (\d+), (\d), ")  # heads of queries, of keys; their width; whether keys are turned
_WITH_SCRATCH = ("LOGIT", "CBRT")  # unary ops that keep a copy


def binary(launch: Launch, room: Room, machine: Machine) -> int:
    """Two pages of each operand and of the output; one each for activations on the way in."""
    out = _out(launch)
    tensors = list(launch.inputs[:2])
    sizes = [2 * tensor.tile_bytes for tensor in [*tensors, out]]
    if len(tensors) == 1:
        sizes.append(out.tile_bytes)  # the scalar
    if len(tensors) > 1 and tensors[0].shape[-2:] != tensors[1].shape[-2:]:
        sizes.append(2 * max(tensor.tile_bytes for tensor in tensors))  # the one that is spread
    activations = min(launch.attributes.count("UnaryOpType"), 2)
    return sum(sizes) + activations * max(_HALF, *(tensor.tile_bytes for tensor in tensors))


def ternary(launch: Launch, room: Room, machine: Machine) -> int:
    """Two pages of each of three operands and of the output."""
    most = max(tensor.tile_bytes for tensor in [*launch.inputs, _out(launch)])
    return 8 * most


def unary(launch: Launch, room: Room, machine: Machine) -> int:
    """Two pages in, two out; a copy for a few."""
    x, out = launch.inputs[0], _out(launch)
    scratch = 2 * x.tile_bytes if any(name in launch.attributes for name in _WITH_SCRATCH) else 0
    return 2 * (x.tile_bytes + out.tile_bytes) + scratch


def cut_out(launch: Launch, room: Room, machine: Machine) -> int:
    """A slice: two tiles; by rows, 8 kB of them, or two where they are longer."""
    out = _out(launch)
    return (2 * out.tile_bytes if out.tiled else max(ROWS_OF_SLICE, 2 * out.row_bytes)) + TILE_SIDE


def into_shards(launch: Launch, room: Room, machine: Machine) -> int:
    """Tensors into shards and back: two pages to convert; rows pass through a buffer of four, each aligned."""
    x, out = launch.inputs[0], _out(launch)
    if not x.tiled:
        return 4 * (min(x.row_bytes, out.row_bytes) + 2 * TILE_SIDE)
    return 0 if x.dtype == out.dtype else 2 * max(x.tile_bytes, out.tile_bytes)


def two_pages(launch: Launch, room: Room, machine: Machine) -> int:
    """Two pages, of the larger of what comes and what goes, and some words: copies, concat, slice, split."""
    return 2 * max(_page(launch.inputs[0]), _page(_out(launch))) + TILE_SIDE


def copied(launch: Launch, room: Room, machine: Machine) -> int:
    """Tiles: two, and two more to convert. Rows: three."""
    x, out = launch.inputs[0], _out(launch)
    if not x.tiled:
        return 3 * max(x.row_bytes, out.row_bytes)
    return 2 * (x.tile_bytes + (out.tile_bytes if out.dtype != x.dtype else 0))


def moved(launch: Launch, room: Room, machine: Machine) -> int | None:
    """Shards move without a buffer, pages by two; what overlaps passes through a copy, which is not modelled."""
    x = launch.inputs[0]
    if x.sharded_in_l1:
        return 0
    return None if "Overlap" in launch.factory or not launch.factory else 2 * _page(x)


def nothing(launch: Launch, room: Room, machine: Machine) -> int | None:
    """Reads and writes shards where they lie."""
    outputs = launch.outputs
    return 0 if all(spec.sharded_in_l1 for spec in outputs) and not launch.factory.startswith("Nd") else None


def turned(launch: Launch, room: Room, machine: Machine) -> int:
    """Transpose and permute: up to three double buffers of tiles, or two rows that stay whole."""
    x = launch.inputs[0]
    if launch.factory == "MultiCoreRowInvariant":
        return 2 * x.row_bytes
    copies = 3 if "Generic" in launch.factory or not launch.factory else 2
    return 2 * copies * x.tile_bytes + 2 * TILE_SIDE


def reshaped(launch: Launch, room: Room, machine: Machine) -> int:
    """Tiles: one in, one out and the map of what goes where. Rows: two of the longer kind, in and out, aligned."""
    x, out = launch.inputs[0], _out(launch)
    if x.tiled:
        return x.tile_bytes + out.tile_bytes + _HALF
    longer = max(x.row_bytes, out.row_bytes)
    return 2 * (longer + 128) + 2 * (longer + 16)


def padded(launch: Launch, room: Room, machine: Machine) -> int:
    """Tiles: two and one of padding. Rows: many at a time, and one of padding."""
    out = _out(launch)
    if out.tiled:
        return 3 * out.tile_bytes
    rows = TILE_SIDE if TILE_SIDE * out.row_bytes <= ROWS_TOGETHER else TILE_SIDE // 2
    return (rows + 1) * out.row_bytes


def filled(launch: Launch, room: Room, machine: Machine) -> int:
    """Padding of the last tiles: two in, a mask, two out."""
    return 5 * launch.inputs[0].tile_bytes


def repeated(launch: Launch, room: Room, machine: Machine) -> int:
    """Eight pages of the output."""
    return CHUNK * _page(_out(launch))


def reduced(launch: Launch, room: Room, machine: Machine) -> int:
    """Up to eight tiles in, the scale, and out two (along a row) or four (along columns, several at a time)."""
    x, out = launch.inputs[0], _out(launch)
    along_row = launch.factory == "ReduceMultiCoreWProgramFactory"
    read = 2 if along_row and x.columns <= 2 else CHUNK
    return read * x.tile_bytes + max(_HALF, x.tile_bytes) + (2 if along_row else 4) * out.tile_bytes


def reduced_outside(launch: Launch, room: Room, machine: Machine) -> int:
    """Sum over batches or channels: two tiles of each, of at most eight, zeros, two out."""
    x, out = launch.inputs[0], _out(launch)
    summed = min(CHUNK, ceil(x.tiles / max(out.tiles, 1)))
    return 2 * summed * x.tile_bytes + _HALF + 2 * out.tile_bytes


def accumulated(launch: Launch, room: Room, machine: Machine) -> int:
    """Running sums: four tiles in and out, and up to two to add up in."""
    x, out = launch.inputs[0], _out(launch)
    added = {_HALF: 0, _FULL: 2 * _FULL}.get(x.tile_bytes, _FULL)
    return 4 * (x.tile_bytes + out.tile_bytes) + added


def tilized(launch: Launch, room: Room, machine: Machine) -> int | None:
    """Rows to tiles: a row of tiles in and out, or a block of it where rows are few and long."""
    x, out = launch.inputs[0], _out(launch)
    in_tile = TILE_SIDE * TILE_SIDE * (4 if x.tile_bytes == _FULL else 2)
    if "Block" in launch.factory:
        tiles = _block_of(out, machine)
        return tiles * (in_tile + out.tile_bytes + in_tile // TILE_SIDE) + 2 * TILE_SIDE
    return out.columns * (in_tile + out.tile_bytes)


def untilized(launch: Launch, room: Room, machine: Machine) -> int | None:
    """Tiles to rows: likewise; the generated program takes two of what a core has of a row."""
    x, out = launch.inputs[0], _out(launch)
    out_tile = TILE_SIDE * TILE_SIDE * (4 if out.tile_bytes == _FULL else 2)
    if "Block" in launch.factory:
        return _block_of(x, machine) * (x.tile_bytes + out_tile)
    if "Codegen" in launch.factory:
        return 2 * min(ceil(x.tiles / machine.cores), x.columns) * (x.tile_bytes + out_tile)
    return x.columns * (x.tile_bytes + out_tile)


def embedded(launch: Launch, room: Room, machine: Machine) -> int:
    """Rows of the table: two; to tiles: two rows of tiles in and out where they fit, else one; and indices."""
    out = _out(launch)
    table = max(launch.inputs, key=lambda spec: spec.shape[-1])
    if not out.tiled:
        return 2 * table.row_bytes + 256
    row = out.columns * (out.tile_bytes + _HALF)
    return (2 * row if 2 * row + 128 <= room.running else row) + 128


def heads_joined(launch: Launch, room: Room, machine: Machine) -> int:
    """All heads of a row of tiles, twice."""
    x = launch.inputs[0]
    heads = x.shape[-3] if len(x.shape) > 2 else 1
    return 2 * heads * x.columns * x.tile_bytes


def heads_split(launch: Launch, room: Room, machine: Machine) -> int | None:
    """A head, twice; three times over where keys are turned."""
    printed = _HEADS.search(launch.attributes)
    if printed is None:
        head = min(min(out.rows, out.columns) for out in launch.outputs)
        return 3 * 2 * head * launch.inputs[0].tile_bytes
    head = ceil(int(printed[1]) / TILE_SIDE)
    return (3 if printed[2] == "1" else 1) * 2 * head * launch.inputs[0].tile_bytes


def _block_of(tensor: Spec, machine: Machine) -> int:
    """Side of the square blocks of tiles that few and long rows are cut into: the smallest with fewer than all cores."""
    rows = tensor.batch * tensor.rows
    longest = max(rows, tensor.columns)
    sides = (size for size in range(1, longest) if ceil(tensor.columns / size) * ceil(rows / size) < machine.cores)
    return next(sides, longest)


def _out(launch: Launch) -> Spec:
    return launch.outputs[0] if launch.outputs else launch.inputs[0]


def _page(spec: Spec) -> int:
    return spec.page_bytes


BY_NAME: dict[str, Callable[[Launch, Room, Machine], int | None]] = {
    "BinaryNgDeviceOperation": binary,
    "BinaryDeviceOperation": binary,
    "TernaryDeviceOperation": ternary,
    "UnaryDeviceOperation": unary,
    "UnaryNgDeviceOperation": unary,
    "TypecastDeviceOperation": unary,
    "CopyDeviceOperation": copied,
    "CloneOperation": copied,
    "ConcatDeviceOperation": two_pages,
    "SliceDeviceOperation": cut_out,
    "SplitDeviceOperation": two_pages,
    "TransposeDeviceOperation": turned,
    "PermuteDeviceOperation": turned,
    "ReshapeViewDeviceOperation": reshaped,
    "PadDeviceOperation": padded,
    "FillPadDeviceOperation": filled,
    "RepeatCodegenDeviceOperation": repeated,
    "RepeatInterleaveCodegenDeviceOperation": repeated,
    "ReduceDeviceOperation": reduced,
    "WelfordReduceDeviceOperation": reduced,
    "FastReduceNCDeviceOperation": reduced_outside,
    "AccumulationDeviceOperation": accumulated,
    "TilizeDeviceOperation": tilized,
    "TilizeWithValPaddingDeviceOperation": tilized,
    "UntilizeDeviceOperation": untilized,
    "UntilizeCodegenDeviceOperation": untilized,
    "UntilizeWithUnpaddingDeviceOperation": untilized,
    "EmbeddingsDeviceOperation": embedded,
    "NLPConcatHeadsDeviceOperation": heads_joined,
    "NlpCreateHeadsDeviceOperation": heads_split,
    "UpsampleOperation": two_pages,
    "MoveDeviceOperation": moved,
    "ReshardDeviceOperation": nothing,
    "NLPCreateQKVHeadsDecodeDeviceOperation": nothing,
    "NLPConcatHeadsDecodeDeviceOperation": nothing,
    "InterleavedToShardedDeviceOperation": into_shards,
    "ShardedToInterleavedDeviceOperation": into_shards,
}
