"""The layer of each op of a window, and its role in that layer.

A layer is the block of op names that repeats over most of the window. Ops at the same place of their layers have the
same role: `role 5 of 29`. Names alone do not tell where a layer begins. It begins at a norm if that loses no layer, as
in transformers. Ops before the first layer (embedding) and after the last one (head) have no layer and no role.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.layers.repeating_names import Layers, layers_of
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

BEFORE, AFTER = 0, -1  # in place of a layer's number
DIFFERS_SHARE = 0.05  # of the usual time: warm repeats of one op agree within 2 %
DIFFERS_NS = 1_000.0  # 1 us: kernel starts vary by as much


@dataclass(frozen=True)
class Layering:
    """The layers of some ops.

    Attributes:
        count: the number of layers.
        roles: the number of ops of one layer.
        layer: per op, 1..count; BEFORE or AFTER if it belongs to none.
        role: per op, 1..roles; 0 if it belongs to no layer.
        kernel_ns: per op.
    """

    count: int
    roles: int
    layer: NDArray[np.int64]
    role: NDArray[np.int64]
    kernel_ns: NDArray[np.float64]

    @cached_property
    def _usual_ns(self) -> NDArray[np.float64]:
        """Per role, the median over its ops; the first entry stands for no role."""
        usual = np.zeros(self.roles + 1)
        order = np.argsort(self.role, kind="stable")
        roles, starts = np.unique(self.role[order], return_index=True)
        for role, times in zip(roles.tolist(), np.split(self.kernel_ns[order], starts[1:]), strict=True):
            usual[role] = float(np.median(times))
        return usual

    @cached_property
    def differs(self) -> NDArray[np.bool_]:
        """Ops whose time differs from the usual time of their role."""
        usual = self._usual_ns[self.role]
        away = np.abs(self.kernel_ns - usual)
        return (self.role > 0) & (away > np.maximum(DIFFERS_SHARE * usual, DIFFERS_NS))

    def take(self, rows: NDArray[np.int64]) -> Layering:
        """The same layers for some ops; the usual times are then those of these ops."""
        return replace(self, layer=self.layer[rows], role=self.role[rows], kernel_ns=self.kernel_ns[rows])

    @property
    def why(self) -> str:
        """How the layers were found."""
        return f"{self.count} layers of {self.roles} ops, by op names that repeat"


@artefact
def layering_of(ops: OpTable) -> Layering | None:
    """The layers of ops that are sorted by device, then by time.

    Returns:
        None if a device has no layers, or two devices have different ones.
    """
    if not len(ops):
        return None
    names = ops.texts("op_code")
    codes = names.folded(canonical).codes
    norms = names.where(lambda text: family(text) == "norm")
    devices = ops.numbers("device")
    layers_of_devices: list[Layers] = []
    layer, role = np.zeros(len(ops), dtype=np.int64), np.zeros(len(ops), dtype=np.int64)
    for rows in np.split(np.arange(len(ops)), np.flatnonzero(np.diff(devices)) + 1):
        layers = layers_of(codes[rows])
        if layers is None:
            return None
        layers = _from_norm(layers, norms[rows])
        layers_of_devices.append(layers)
        layer[rows] = layers.numbers(np.arange(len(rows)))
        role[rows] = (np.arange(len(rows)) - layers.first) % layers.ops + 1
    if len({(layers.ops, layers.count) for layers in layers_of_devices}) > 1:
        return None
    count = layers_of_devices[0].count
    role[(layer < 1) | (layer > count)] = 0
    layer[layer > count] = AFTER
    return Layering(count, layers_of_devices[0].ops, layer, role, ops.numbers("kernel_ns"))


def _from_norm(layers: Layers, norms: NDArray[np.bool_]) -> Layers:
    """The same layers, but they begin at the first norm among their possible first ops."""
    starts = np.flatnonzero(norms[layers.first : layers.first + layers.slack + 1])
    return replace(layers, first=layers.first + int(starts[0])) if len(starts) else layers
