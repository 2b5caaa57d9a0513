"""When the buffers of a dry capture (NO_DISPATCH) were freed: its frees name neither tensor nor address.

Python drops most tensors between operations. No graph records that, and no snapshot shows a buffer without address. So
a buffer counts until the last operation that takes its tensor, `deallocate` included. It may have stayed longer.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.readers.memory.spaces import UNPLACED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.analyses.memory.device_lane import Lane
    from ttnn_mcp.readers.memory.columns import Integers
    from ttnn_mcp.readers.memory.report import MemoryReport


class DryFrees:
    """The ends of buffers without an address.

    Args:
        memory: the report.
        operations: ids in execution order.
        tensors: the tensor of each buffer, by its key; grows while graphs are read.
    """

    def __init__(self, memory: MemoryReport, operations: Integers, tensors: Mapping[int, int]) -> None:
        self._inputs, self._outputs = memory.inputs, memory.outputs
        self._operations = operations
        self._tensors = tensors
        self._names: dict[int, int] = {}

    def after(self, place: int, lane: Lane) -> list[int]:
        """Keys of a lane's buffers that an operation took, but none after the operation at `place` takes."""
        if not self._tensors:
            return []
        last, gone = self._last_uses, list[int]()
        for key in [key for key in lane.live if key >= UNPLACED]:
            if key not in self._names:
                self._names[key] = self._named(key, place)
            if 0 <= last.get(self._names[key], -1) <= place:
                gone.append(key)
        return gone

    def _named(self, key: int, place: int) -> int:
        """The tensor that later operations name: the only output, if the operation reshaped its result."""
        tensor = self._tensors.get(key, -1)
        if tensor in self._last_uses:
            return tensor
        outputs = self._outputs.tensors[self._outputs.operations == self._operations[place]].tolist()
        return outputs[0] if len(outputs) == 1 and outputs[0] not in self._names.values() else tensor

    @cached_property
    def _last_uses(self) -> dict[int, int]:
        """The place of the last operation that takes each tensor."""
        known = np.isin(self._inputs.operations, self._operations)
        places = np.searchsorted(self._operations, self._inputs.operations[known])
        order = np.argsort(places, kind="stable")
        return dict(zip(self._inputs.tensors[known][order].tolist(), places[order].tolist(), strict=True))
