"""The layer of each op of a window, and its role in that layer.

The run can name its layers: by numbers in a compiler's LOC, otherwise by signposts. Without both, a layer is the block
of op names that repeats over most of the window, or one of several such blocks. Ops at the same place of their layers
have the same role: `role 5 of 29`. Names alone do not tell where a layer begins. It begins at a norm if that loses no
layer, as in transformers. Ops outside the layers (embedding, head) have no layer and no role.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.layers.layer_blocks import LayerBlocks, blocks_of
from ttnn_mcp.analyses.layers.marked_layers import Marked, by_loc, by_signposts
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

BEFORE, AFTER = 0, -1  # in place of a layer's number
DIFFERS_SHARE = 0.05  # of the usual time: warm repeats of one op agree within 2 %
DIFFERS_NS = 1_000.0  # and a microsecond: below it, the start of a kernel varies as much


@dataclass(frozen=True, slots=True)
class Stack:
    """Layers with the same ops.

    Attributes:
        layers: their numbers.
        roles: the numbers of their roles; none if layers have different ops.
        passes: how often they run.
    """

    layers: range
    roles: range
    passes: int = 1


@dataclass(frozen=True)
class Layering:
    """The layers of some ops.

    Attributes:
        blocks: what layers and roles there are.
        layer: per op, 1..count; BEFORE or AFTER if it belongs to none.
        role: per op, 1..roles; 0 if it belongs to no layer, or its layers have different ops.
        differs: ops whose time differs from the usual time of their role on their device.
        why: how the layers were found.
        scattered: whether ops outside the layers can run between two layers.
    """

    blocks: tuple[Stack, ...]
    layer: Integers
    role: Integers
    differs: Booleans
    why: str
    scattered: bool = False

    @property
    def count(self) -> int:
        """The number of layers."""
        return self.blocks[-1].layers.stop - 1

    @property
    def roles(self) -> int:
        """The number of roles; 0 if layers have different ops."""
        return self.blocks[-1].roles.stop - 1

    def take(self, rows: Integers) -> Layering:
        """The same layers for some ops; the usual times are those of all ops."""
        return replace(self, layer=self.layer[rows], role=self.role[rows], differs=self.differs[rows])


@artefact
def layering_of(ops: OpTable, signposts: OpTable) -> Layering | None:
    """The layers of ops that are sorted by device, then by time.

    Args:
        ops: the ops.
        signposts: the report's signposts.

    Returns:
        None if a device has no layers, or two devices have different ones.
    """
    if not len(ops):
        return None
    devices = np.split(np.arange(len(ops)), np.flatnonzero(np.diff(ops.numbers("device"))) + 1)
    codes = ops.texts("op_code").folded(canonical).codes
    marked = by_loc(ops, devices) or by_signposts(ops, signposts)
    return _told(ops, devices, codes, marked) if marked else _by_names(ops, devices, codes)


def _told(ops: OpTable, devices: list[Integers], codes: Integers, marked: Marked) -> Layering | None:
    """Layers that the run names; they have roles only if all have the same ops."""
    role = np.zeros(len(ops), dtype=np.int64)
    kinds: set[tuple[int, ...]] = set()
    for device in devices:
        order = device[np.argsort(marked.layer[device], kind="stable")]
        for rows in np.split(order, np.flatnonzero(np.diff(marked.layer[order])) + 1):
            if marked.layer[rows[0]] > 0:
                kinds.add(tuple(codes[rows].tolist()))
                role[rows] = np.arange(1, len(rows) + 1)
    roles = len(next(iter(kinds))) if len(kinds) == 1 else 0
    role = role if roles else np.zeros_like(role)
    why = marked.why if roles else f"{marked.why}; their ops differ, so they have no roles"
    block = Stack(range(1, marked.count + 1), range(1, roles + 1))
    return Layering((block,), marked.layer, role, _differing(ops, devices, role), why, scattered=True)


def _by_names(ops: OpTable, devices: list[Integers], codes: Integers) -> Layering | None:
    of_devices: list[LayerBlocks] = []
    layer, role = np.zeros(len(ops), dtype=np.int64), np.zeros(len(ops), dtype=np.int64)
    for rows in devices:
        layers = blocks_of(codes[rows], ops.take(rows))
        if layers is None:
            return None
        of_devices.append(layers)
        layer[rows] = layers.numbers(np.arange(len(rows)))
        role[rows] = layers.roles(np.arange(len(rows)))
    if len({tuple((each.ops, each.count, each.passes) for each in layers.blocks) for layers in of_devices}) > 1:
        return None
    layers = of_devices[0]
    layer[layer > layers.count] = AFTER
    blocks: list[Stack] = []
    for each in layers.blocks:
        ran, known = (blocks[-1].layers.stop, blocks[-1].roles.stop) if blocks else (1, 1)
        blocks.append(Stack(range(ran, ran + each.count), range(known, known + each.ops), each.passes))
    differs = _differing(ops, devices, role)
    return Layering(tuple(blocks), layer, role, differs, _by_names_told(blocks), scattered=layers.scattered)


def _by_names_told(blocks: list[Stack]) -> str:
    """How the layers were found, and in several blocks which are whose."""
    passes = [f" in each of {block.passes} passes" if block.passes > 1 else "" for block in blocks]
    if len(blocks) == 1:
        (block,) = blocks
        return f"{len(block.layers)} layers of {len(block.roles)} ops{passes[0]}, by op names that repeat"
    parts = [
        f"{ends_of(block.layers)} of {len(block.roles)} ops (roles {ends_of(block.roles)}){often}"
        for block, often in zip(blocks, passes, strict=True)
    ]
    return f"{blocks[-1].layers[-1]} layers in {len(blocks)} blocks, by op names that repeat: {', '.join(parts)}"


def ends_of(numbers: range) -> str:
    """`5-8` of 5, 6, 7, 8."""
    return f"{numbers[0]}-{numbers[-1]}"


def _differing(ops: OpTable, devices: list[Integers], role: Integers) -> Booleans:
    """Ops whose time is not the median of their role on their device."""
    kernel_ns, usual = ops.numbers("kernel_ns"), np.zeros(len(ops))
    for device in devices:
        order = device[np.argsort(role[device], kind="stable")]
        for rows in np.split(order, np.flatnonzero(np.diff(role[order])) + 1):
            usual[rows] = float(np.median(kernel_ns[rows]))
    return (role > 0) & (np.abs(kernel_ns - usual) > np.maximum(DIFFERS_SHARE * usual, DIFFERS_NS))
